(() => {
  "use strict";
  const words = new Intl.Collator(document.documentElement.lang, { numeric: true });

  // What a cell is sorted by: its number where it begins with one; null where there is nothing.
  function key(row, place) {
    const text = row.cells[place].textContent.trim();
    if (text === "" || text === "–") return null;
    const number = parseFloat(text.replace("−", "-").replace(/,/g, ""));
    return Number.isNaN(number) ? text : number;
  }

  function sort(heading) {
    const place = heading.cellIndex;
    const descending = heading.getAttribute("aria-sort") === "ascending";
    const body = heading.closest("table").tBodies[0];
    const lines = Array.from(body.rows, (row) => ({ row, key: key(row, place) }));
    lines.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      const numeric = typeof a.key === "number" && typeof b.key === "number";
      const order = numeric ? a.key - b.key : words.compare(a.key, b.key);
      return descending ? -order : order;
    });
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...lines.map((line) => line.row));
  }

  // Selecting the code is enough where a page may not write to the clipboard.
  async function copy(button) {
    const code = button.parentElement.previousElementSibling;
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: press Ctrl+C";
    }
  }

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => copy(button));
  }

  for (const heading of document.querySelectorAll("th[data-sort]")) {
    heading.querySelector("button").addEventListener("click", () => sort(heading));
  }
})();
