// Does what a reader does, and writes what is then to be seen into the document, as JSON.
(() => {
  const seen = {};
  const texts = (rows, column) => rows.map((row) => row.cells[column].textContent);
  const shown = (table) => Array.from(table.tBodies[0].rows).filter((row) => !row.hidden && row.className !== "story");
  const heading = (table, name) => Array.from(table.tHead.rows[0].cells).find((cell) => cell.textContent.startsWith(name));
  const click = (table, name) => heading(table, name).querySelector("button").click();
  const type = (tools, text) => {
    const input = tools.querySelector("input");
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const choose = (tools, words) => {
    const select = tools.querySelector("select");
    select.selectedIndex = Array.from(select.options).findIndex((option) => option.textContent === words);
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const tools = (table) => table.closest(".table").querySelector(".tools");
  const box = (element) => { const { left, top, right, bottom } = element.getBoundingClientRect(); return [left, top, right, bottom]; };
  const summary = document.getElementById("summary");
  const timings = document.querySelector("#benchmark table");
  const criteria = document.getElementById("criteria");

  // Sizes first, as the page comes.
  const root = document.documentElement;
  seen.width = root.clientWidth;
  seen.page_width = root.scrollWidth;
  const scrolls = ".wide, .picture, nav";
  seen.too_wide = Array.from(document.querySelectorAll("body *"))
    .filter((element) => { const b = box(element); return b[2] > b[0] && b[2] > root.clientWidth + 1 && !element.parentElement.closest(scrolls) && !element.closest("svg svg, #tip"); })
    .map((element) => element.tagName + (element.id ? "#" + element.id : "") + " " + element.textContent.slice(0, 40));
  // What must be scrolled sideways says so: by a shade at its edge, or in words.
  const hinted = (element) => getComputedStyle(element).backgroundImage.includes("gradient") || getComputedStyle(element, "::before").content.includes("scroll sideways");
  const overflowing = Array.from(document.querySelectorAll(".wide, .framed, .picture")).filter((element) => element.scrollWidth > element.clientWidth + 1);
  seen.overflowing = overflowing.map((element) => element.className);
  seen.without_hint = overflowing.filter((element) => !hinted(element)).map((element) => element.className);
  seen.sections = Array.from(document.querySelectorAll("main > section"), (section) => [section.id, ...box(section)]);
  seen.links = Array.from(document.querySelectorAll("nav a"), (link) => link.hash.slice(1));
  seen.tables = Array.from(document.querySelectorAll(".table table"), (table) => {
    const [head, first] = [box(table.tHead), box(table.tBodies[0].rows[0])];
    return { label: table.getAttribute("aria-label"), table: box(table), head_bottom: head[3], first_top: first[1], headings: Array.from(table.tHead.rows[0].cells, box) };
  });
  const pictures = Array.from(document.querySelectorAll(".picture > svg, .picture > img"));
  const visible = pictures.filter((picture) => picture.getClientRects().length > 0);
  seen.pictures = visible.map((picture) => [picture.closest("figure").id, ...box(picture)]);
  seen.hidden_pictures = pictures.length - visible.length;
  // The em of the smallest text; those of a bitmap have 21 pixels.
  seen.smallest_letters = visible.map((picture) => {
    const texts = Array.from(picture.querySelectorAll("text"), (text) => parseFloat(getComputedStyle(text).fontSize));
    const [units, em] = picture.viewBox ? [picture.viewBox.baseVal.width, Math.min(...texts)] : [picture.naturalWidth, 21];
    const [left, , right] = box(picture);
    return [picture.closest("figure").id, em * (right - left) / units];
  });
  seen.cards = Array.from(document.querySelectorAll(".cards li"), (card) => [...box(card), card.scrollWidth - card.clientWidth]);
  seen.verdict_ids = texts(shown(criteria), 0);

  // Sorting.
  click(summary, "mean");
  seen.by_mean = texts(shown(summary), 0);
  seen.mean_sort = heading(summary, "mean").getAttribute("aria-sort");
  click(summary, "mean");
  seen.by_mean_down = texts(shown(summary), 0);
  seen.mean_sort_down = heading(summary, "mean").getAttribute("aria-sort");
  click(summary, "bulk ESS");
  seen.by_bulk = texts(shown(summary), 0);
  seen.sorted_headings = Array.from(summary.querySelectorAll("th[aria-sort]"), (cell) => cell.textContent);
  click(summary, "parameter");
  seen.by_name = texts(shown(summary), 0);
  click(timings, "wall");
  seen.by_wall = shown(timings).map((row) => [row.cells[0].textContent, row.cells[1].textContent]);

  // Filters.
  type(tools(summary), "mu_group 1");
  seen.filtered = texts(shown(summary), 0);
  seen.filtered_count = tools(summary).querySelector("[role=status]").textContent;
  type(tools(summary), "");
  choose(tools(summary), "truth outside");
  seen.outside = texts(shown(summary), 0);
  choose(tools(summary), "that miss a limit");
  seen.missed = texts(shown(summary), 0);
  choose(tools(summary), "all");
  choose(tools(criteria), "SKIPPED");
  seen.skipped = texts(shown(criteria), 0);
  choose(tools(criteria), "all");

  // A story, which stays with its row.
  const row = Array.from(summary.tBodies[0].rows).find((row) => row.cells[0].textContent === "sigma_pop");
  const opener = row.cells[0].querySelector("button");
  opener.click();
  const story = row.nextElementSibling;
  seen.story = Array.from(story.querySelectorAll("li"), (item) => item.textContent);
  seen.story_expanded = opener.getAttribute("aria-expanded");
  seen.story_pictures = Array.from(story.querySelectorAll("svg"), (picture) => [picture.getAttribute("aria-label"), picture.querySelectorAll("polyline, path, circle").length, ...box(picture)]);
  seen.story_box = box(story.querySelector("div"));
  click(summary, "sd");
  seen.story_follows = row.nextElementSibling === story;
  type(tools(summary), "mu_pop");
  seen.story_hidden = story.hidden;
  type(tools(summary), "");
  const missing = Array.from(summary.tBodies[0].rows).find((row) => row.cells[0].textContent === "z[0]");
  missing.cells[0].querySelector("button").click();
  seen.story_of_none = missing.nextElementSibling.querySelectorAll("li").length;
  missing.cells[0].querySelector("button").click();
  opener.click();
  seen.story_closed = document.querySelector(".story") === null && opener.getAttribute("aria-expanded") === "false";

  // What a picture says, by pointer and by keys.
  const rect = Array.from(document.querySelectorAll("#forest_plot .tips > rect")).find((rect) => rect.getClientRects().length > 0);
  rect.scrollIntoView({ block: "center" });
  const [left, top, right, bottom] = box(rect);
  rect.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: (left + right) / 2, clientY: (top + bottom) / 2 }));
  const tip = document.getElementById("tip");
  seen.tip = tip.hidden ? null : tip.innerText;
  seen.tip_box = box(tip);
  seen.tip_titles = rect.querySelectorAll("title").length + document.querySelectorAll("figure svg > title").length;
  rect.parentNode.focus();
  for (const key of ["Home", "ArrowRight"]) rect.parentNode.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  seen.tip_next = tip.hidden ? null : tip.innerText;
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  seen.tip_gone = tip.hidden;

  // Light and dark, of the page and of its pictures.
  const colours = () => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("#forest_plot svg > path")).fill];
  seen.before = colours();
  document.getElementById("theme").click();
  seen.after = colours();
  document.getElementById("theme").click();
  seen.back = colours();

  scrollTo(0, 0);
  const out = document.createElement("pre");
  out.id = "probe";
  out.hidden = true;
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
  parent.postMessage(out.outerHTML, "*");
})();
