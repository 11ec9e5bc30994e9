"use strict";
(function () {
  const root = document.documentElement, button = document.getElementById("theme");
  function theme(name) { root.dataset.theme = name; button.textContent = name === "dark" ? "Light" : "Dark"; }
  theme(window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  button.addEventListener("click", () => theme(root.dataset.theme === "dark" ? "light" : "dark"));

  // Tables: a click on a heading sorts, a second one turns the order round; rows without a value stay last.
  function value(row, j) {
    const cell = row.cells[j], raw = cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent.trim();
    const number = raw === "" ? NaN : Number(raw);
    return { text: raw, number: number };
  }
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, j) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      Array.from(body.rows).map((row, i) => ({ row: row, i: i, key: value(row, j) })).sort((a, b) => {
        const x = a.key, y = b.key;
        if ((x.text === "") !== (y.text === "")) return x.text === "" ? 1 : -1;
        const numbers = !Number.isNaN(x.number) && !Number.isNaN(y.number);
        const order = numbers ? x.number - y.number : x.text.localeCompare(y.text);
        return (down ? -order : order) || a.i - b.i;
      }).forEach((one) => body.appendChild(one.row));
    }));
  });

  // A filter hides the rows that do not hold its text.
  document.querySelectorAll("input[data-filter]").forEach((input) => input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    document.querySelectorAll("#" + input.dataset.filter + " tbody tr").forEach((row) => {
      row.classList.toggle("filtered", !row.textContent.toLowerCase().includes(wanted));
      show(row);
    });
  }));
  function show(row) { row.hidden = row.classList.contains("filtered") || row.classList.contains("unchecked"); }

  // A box shows or hides a booster in all tables and pictures.
  document.querySelectorAll("input[data-toggle]").forEach((box) => box.addEventListener("change", () => {
    document.querySelectorAll("[data-name]").forEach((one) => {
      if (one.dataset.name !== box.dataset.toggle) return;
      if (one.tagName === "TR") { one.classList.toggle("unchecked", !box.checked); show(one); }
      else one.style.display = box.checked ? "" : "none";
    });
  }));

  // Hover and focus: what a mark stands for.
  const tip = document.getElementById("tip");
  function place(x, y) {
    tip.style.left = Math.min(x + 12, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.max(y - tip.offsetHeight - 8, 4) + "px";
  }
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest && event.target.closest("[data-tip]");
    tip.hidden = !mark;
    if (mark) { tip.textContent = mark.dataset.tip; place(event.clientX, event.clientY); }
  });
  document.addEventListener("focusin", (event) => {
    const mark = event.target.closest && event.target.closest("[data-tip]");
    tip.hidden = !mark;
    if (mark) { const box = mark.getBoundingClientRect(); tip.textContent = mark.dataset.tip; place(box.left, box.top); }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
})();
