// What is to be known about one parameter, in words and three small pictures, below its row.
{
  const data = JSON.parse(document.getElementById("stories").textContent);
  const table = document.getElementById("summary");
  const column = {};
  for (const header of table.tHead.rows[0].cells) column[header.dataset.key] = header.cellIndex;
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  const RHAT = 1.01, ESS = 400;
  // Means are in these parts of the sd of all, sds in hundredths.
  const MEAN = 1e4;

  const count = (value) => Math.round(value).toLocaleString("en-US");
  const short = (value, digits = 2) => String(Number(value.toPrecision(digits)));
  const percent = (share) => short(100 * share) + " %";
  const known = (values) => values.filter((value) => value !== null);
  const chain = (i) => (data.together > 1 ? `chains ${i * data.together} to ${(i + 1) * data.together - 1}` : `chain ${i}`);

  // The sentences, and whether any says that something is amiss.
  const sentences = (row, story) => {
    const text = (key) => (key in column ? row.cells[column[key]].textContent : "");
    const number = (key) => (key in column ? valueOf(text(key)) : null);
    const found = [];
    const say = (words, bad) => found.push([words, Boolean(bad)]);
    const rhat = number("rhat"), bulk = number("bulk"), tail = number("tail"), sd = number("sd"), mcse = number("mcse");
    if (rhat === null) say("R-hat is not defined: a chain never moved, there are too few draws, or a draw is no number.", true);
    else if (rhat < RHAT) say(`R-hat ${text("rhat")}, below ${RHAT}: the chains agree, in where they are and in how far they spread.`);
    else if (rhat < 1.05) say(`R-hat ${text("rhat")}, not below ${RHAT}: the chains do not agree yet. Sample longer.`, true);
    else say(`R-hat ${text("rhat")}, far above ${RHAT}: the chains are in different places, and no other number here can be trusted.`, true);
    if (bulk !== null && tail !== null) {
      say(`${text("bulk")} effective draws of ${count(data.total)} for the centre (${percent(bulk / data.total)}), ${text("tail")} for the tails: ` +
        (bulk > ESS && tail > ESS ? `above ${ESS}, enough for this mean and this interval.` : `not above ${ESS}, too few to rely on. Sample longer.`), !(bulk > ESS && tail > ESS));
    }
    if (mcse !== null && sd) say(`The mean ${text("mean")} is uncertain by ${text("mcse")} (MCSE) because draws are finite, ${percent(mcse / sd)} of the posterior sd.`);
    if (story) {
      const [means, sds, growth, , ranks, time] = story;
      if (time !== null) {
        say(time >= 1 ? `About one draw in ${short(time)} counts as an independent one for the mean (autocorrelation time).`
          : `For the mean a draw is worth ${short(1 / time)} independent ones: neighbours lie on opposite sides (autocorrelation time ${short(time)}).`);
      }
      const last = growth.length - 1, half = data.draws.findIndex((draws) => 2 * draws >= data.draws[last]);
      if (last > half && half >= 0 && growth[last] !== null && growth[half] !== null) {
        const pace = growth[last] / growth[half] / (data.draws[last] / data.draws[half]);
        const facts = `from ${count(growth[half])} after ${count(data.draws[half])} draws of each chain to ${count(growth[last])} after ${count(data.draws[last])}`;
        say(pace > 0.7 ? `Effective draws grow with the draws, ${facts}: the chains mix.`
          : `Effective draws grow more slowly than the draws, ${facts}: a chain has been somewhere that the others have not.`, pace <= 0.7);
      }
      const valid = known(means);
      if (valid.length > 1 && time !== null) {
        const error = Math.sqrt(time * valid.length / data.total);
        const far = means.reduce((best, value, i) => (value !== null && Math.abs(value) > Math.abs(means[best] || 0) ? i : best), 0);
        const away = means[far] / MEAN, errors = Math.abs(away) / error, apart = errors > 3.5;
        const side = away > 0 ? "above" : "below";
        say(`Furthest out ${data.together > 1 ? "are" : "is"} ${chain(far)}: mean ${short(Math.abs(away))} sd ${side} that of all, ${short(errors)} standard errors` +
          (apart ? ": more than chance." : ", as chance would have it."), apart);
        const spread = known(sds);
        say(`Each spreads by ${short(Math.min(...spread) / 100)} to ${short(Math.max(...spread) / 100)} times the sd of all.`);
      }
      if (ranks) {
        const heights = Array.from(ranks, (digit) => DIGITS.indexOf(digit) / 16);
        say(`Of each twentieth of all draws a chain has ${short(Math.min(...heights))} to ${short(Math.max(...heights))} times its share.`);
      }
    }
    const truth = number("truth");
    if (truth !== null) {
      const outside = row.querySelector(".out") !== null;
      const away = sd ? ` It lies ${short(Math.abs(truth - number("mean")) / sd)} sd ${truth > number("mean") ? "above" : "below"} the mean.` : "";
      say(outside ? `The value that made the data, ${text("truth")}, is outside the 89% interval ${text("hdi")}, as 11 of 100 such values are.${away}`
        : `The value that made the data, ${text("truth")}, is inside the 89% interval ${text("hdi")}.${away}`);
    }
    return found;
  };

  // Pictures are 300 by 120; what comes out of the data are numbers.
  const WIDTH = 300, HEIGHT = 120, LEFT = 44, RIGHT = 290, TOP = 8, BOTTOM = 96;
  const line = (points, kind) => `<polyline class="${kind}" points="${points.map(([x, y]) => x.toFixed(1) + "," + y.toFixed(1)).join(" ")}"/>`;
  const words = (x, y, text, anchor = "middle") => `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`;
  const place = (x, y, width, height, text) => `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"><title>${text}</title></rect>`;
  const picture = (title, caption, marks, tips) =>
    `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${marks}<g class="tips" fill="none" pointer-events="all">${tips}</g></svg><figcaption><b>${title}</b> ${caption}</figcaption></figure>`;

  const growth = ([, , bulk, tail]) => {
    const most = Math.max(ESS, ...known(bulk), ...known(tail)) * 1.05;
    const x = (i) => LEFT + (RIGHT - LEFT) * data.draws[i] / data.draws[data.draws.length - 1];
    const y = (value) => BOTTOM - (BOTTOM - TOP) * value / most;
    const curve = (values, kind) => line(values.map((value, i) => [x(i), y(value || 0)]).filter((_, i) => values[i] !== null), kind);
    const limit = y(ESS);
    const marks = line([[LEFT, BOTTOM], [RIGHT, BOTTOM]], "axis") + line([[LEFT, limit], [RIGHT, limit]], "limit") +
      words(LEFT - 5, limit + 4, ESS, "end") + (limit - TOP > 16 ? words(LEFT - 5, TOP + 8, count(most / 1.05), "end") : "") +
      words(RIGHT, HEIGHT - 8, count(data.draws[data.draws.length - 1]), "end") + words(LEFT, HEIGHT - 8, 0) +
      curve(tail, "tail") + curve(bulk, "bulk");
    const step = (RIGHT - LEFT) / data.draws.length;
    const told = (value) => (value === null ? "not defined" : count(value));
    const tips = data.draws.map((draws, i) => place(x(i) - step / 2, TOP, step, BOTTOM - TOP, `${count(draws)} draws of each chain\nbulk ESS ${told(bulk[i])}\ntail ESS ${told(tail[i])}`)).join("");
    return picture("Effective draws", "as draws grow: <i class=bulk>bulk</i>, <i class=tail>tail</i>, and the limit.", marks, tips);
  };

  const places = ([means, sds, , , , time]) => {
    const error = time === null ? 0 : MEAN * Math.sqrt(time * known(means).length / data.total);
    const reach = Math.max(4 * error, ...known(means).map((value) => Math.abs(value) + 2 * error)) || 1;
    const middle = (LEFT + RIGHT) / 2, x = (value) => middle + (RIGHT - LEFT) / 2 * value / reach;
    const pitch = (BOTTOM - TOP) / means.length, y = (i) => TOP + pitch * (i + 0.5);
    let marks = line([[middle, TOP], [middle, BOTTOM]], "limit") + line([[LEFT, BOTTOM], [RIGHT, BOTTOM]], "axis") +
      words(middle, HEIGHT - 8, "mean of all") + words(RIGHT, HEIGHT - 8, "+" + short(reach / MEAN) + " sd", "end") + words(LEFT, HEIGHT - 8, "−" + short(reach / MEAN) + " sd", "start");
    let tips = "";
    means.forEach((value, i) => {
      if (value === null) return;
      const apart = Math.abs(value) > 3.5 * error ? " apart" : "";
      marks += line([[x(value - 2 * error), y(i)], [x(value + 2 * error), y(i)]], "bulk" + apart) + `<circle class="bulk${apart}" cx="${x(value).toFixed(1)}" cy="${y(i).toFixed(1)}" r="3"/>`;
      if (pitch > 11) marks += words(LEFT - 5, y(i) + 4, data.together > 1 ? i * data.together : i, "end");
      tips += place(LEFT, y(i) - pitch / 2, RIGHT - LEFT, pitch, `${chain(i)}\nmean ${short(value / MEAN)} sd from that of all\nsd ${sds[i] === null ? "not defined" : short(sds[i] / 100, 3)} times that of all`);
    });
    return picture("Means by chain", "with two standard errors, in posterior sds.", marks, tips);
  };

  const ranks = ([means, , , , digits]) => {
    const chains = means.length, bins = digits.length / chains, pitch = (BOTTOM - TOP) / chains;
    const heights = Array.from(digits, (digit) => DIGITS.indexOf(digit) / 16);
    const most = Math.max(2, ...heights), step = (RIGHT - LEFT) / bins;
    let marks = "", tips = "";
    for (let i = 0; i < chains; i += 1) {
      const base = TOP + pitch * (i + 1), unit = (pitch - 2) / most;
      let bars = "";
      for (let bin = 0; bin < bins; bin += 1) {
        const height = heights[i * bins + bin];
        bars += `M${(LEFT + step * bin + 0.5).toFixed(1)} ${base.toFixed(1)}v${(-unit * height).toFixed(1)}h${(step - 1).toFixed(1)}V${base.toFixed(1)}z`;
        tips += place(LEFT + step * bin, base - pitch, step, pitch, `${chain(i)}, ranks ${count(100 * bin / bins)} to ${count(100 * (bin + 1) / bins)} %\n${short(height)} times its share`);
      }
      marks += `<path class="bulk" d="${bars}"/>` + line([[LEFT, base - unit], [RIGHT, base - unit]], "limit");
      if (pitch > 11) marks += words(LEFT - 5, base - pitch / 2 + 4, data.together > 1 ? i * data.together : i, "end");
    }
    marks += words(LEFT, HEIGHT - 8, "lowest draws", "start") + words(RIGHT, HEIGHT - 8, "highest", "end");
    return picture("Ranks by chain", "among all draws; flat along the dashes is good.", marks, tips);
  };

  const open = (row, story) => {
    const line = document.createElement("tr");
    line.className = "story";
    const cell = line.insertCell();
    cell.colSpan = row.cells.length;
    const box = document.createElement("div");
    const list = document.createElement("ul");
    for (const [text, bad] of sentences(row, story)) {
      const item = document.createElement("li");
      item.textContent = text;
      item.className = bad ? "amiss" : "";
      list.append(item);
    }
    box.append(list);
    if (story) {
      const pictures = document.createElement("div");
      pictures.className = "pictures";
      pictures.innerHTML = growth(story) + places(story) + (story[4] ? ranks(story) : "");
      box.append(pictures);
    }
    cell.append(box);
    row.after(line);
    row.story = line;
  };

  Array.from(table.tBodies[0].rows).forEach((row, i) => {
    const button = document.createElement("button");
    button.append(...row.cells[0].childNodes);
    button.setAttribute("aria-expanded", "false");
    row.cells[0].append(button);
    row.addEventListener("click", (event) => {
      // A reader who marks a number wants to copy it.
      if (!button.contains(event.target) && String(getSelection())) return;
      if (row.story) { row.story.remove(); row.story = null; } else open(row, data.rows[i] || null);
      button.setAttribute("aria-expanded", String(Boolean(row.story)));
    });
  });
}
