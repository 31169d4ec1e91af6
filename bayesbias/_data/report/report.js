"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent.trim();
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows];
      const numbers = head.classList.contains("n");
      rows.sort((a, b) => {
        const [x, y] = [key(a, i), key(b, i)];
        if (x === "" || y === "") return (x === "") - (y === ""); // what is not known stays last
        const order = numbers ? Number(x) - Number(y) : x.localeCompare(y);
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});
