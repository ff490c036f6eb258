// Tables: a click on a heading sorts by its column, a second one the other way round; words and a choice filter rows.
const UNITS = { us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

// The number that a text begins with, in seconds or bytes where it has a unit; null where there is none.
const valueOf = (text) => {
  let rest = text.replace(/,/g, "").trim();
  let sum = null;
  for (;;) {
    const found = /^(-?(?:inf|\d+\.?\d*(?:e[-+]?\d+)?))x?\s*(us|ms|min|s|h|[KMGT]iB|B)?(?![A-Za-z0-9.])\s*/.exec(rest);
    if (!found || (sum !== null && !found[2])) return sum;
    const number = found[1].endsWith("inf") ? (found[1] === "inf" ? Infinity : -Infinity) : parseFloat(found[1]);
    sum = (sum || 0) + number * (UNITS[found[2]] || 1);
    if (!found[2]) return sum;
    rest = rest.slice(found[0].length);
  }
};

const NAMES = new Intl.Collator("en", { numeric: true });

for (const box of document.querySelectorAll(".table")) {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const headers = Array.from(table.tHead.rows[0].cells);

  // A row takes along what has been opened below it.
  const place = () => body.append(...rows.flatMap((row) => (row.story ? [row, row.story] : [row])));
  const sort = (header) => {
    const column = header.cellIndex;
    const isNumber = table.classList.contains("r" + (column + 1));
    const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const keys = new Map(rows.map((row) => {
      const text = row.cells[column].textContent;
      return [row, isNumber ? valueOf(text) : text];
    }));
    rows.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (!isNumber) return sign * NAMES.compare(x, y);
      // What is no number comes last, whichever way round.
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
    place();
  };
  if (rows.length > 1) {
    for (const header of headers) {
      const button = document.createElement("button");
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(header));
    }
  }

  const tools = box.querySelector(".tools");
  if (!tools) continue;
  tools.hidden = false;
  const words = tools.querySelector("input");
  const choice = tools.querySelector("select");
  const shown = tools.querySelector("[role=status]");
  const byName = words.hasAttribute("data-name");
  const texts = new Map(rows.map((row) => [row, (byName ? row.cells[0] : row).textContent.toLowerCase()]));
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const kept = wanted.every((word) => texts.get(row).includes(word)) &&
        (!choice || !choice.value || row.querySelector(choice.value) !== null);
      row.hidden = !kept;
      if (row.story) row.story.hidden = !kept;
      count += kept ? 1 : 0;
    }
    shown.textContent = count + " of " + rows.length;
  };
  words.addEventListener("input", filter);
  if (choice) choice.addEventListener("change", filter);
}
