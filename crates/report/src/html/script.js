"use strict";
(() => {
  const table = document.getElementById("summary");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const filter = document.getElementById("filter");
  const missed = document.getElementById("missed");
  const shown = document.getElementById("shown");

  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const name = row.cells[0].textContent.toLowerCase();
      const kept = words.every((word) => name.includes(word)) && (!missed.checked || row.querySelector(".bad,.out"));
      row.hidden = !kept;
      count += kept ? 1 : 0;
    }
    shown.textContent = count + " of " + rows.length;
  };
  filter.addEventListener("input", show);
  missed.addEventListener("change", show);

  // A cell's number: its first one, without the commas of thousands. What is none sorts last.
  const number = (row, column) => {
    const value = parseFloat(row.cells[column].textContent.replace(/,/g, ""));
    return Number.isNaN(value) ? null : value;
  };
  const names = new Intl.Collator(undefined, { numeric: true });
  const sort = (header) => {
    const column = header.cellIndex;
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    rows.sort((a, b) => {
      if (column === 0) return sign * names.compare(a.cells[0].textContent, b.cells[0].textContent);
      const x = number(a, column), y = number(b, column);
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (x - y);
    });
    body.append(...rows);
  };
  for (const header of table.tHead.rows[0].cells) {
    header.addEventListener("click", () => sort(header));
    header.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(header); }
    });
  }
})();
