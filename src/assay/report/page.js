// Adds what a page can do beyond being read: filters, words at the pointer, and figures and tables to take away.
(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const marks = (part) => part.dataset.levels.split(" ").filter(Boolean).map((mark) => mark.slice(1).split("-"));

  // A part is hidden when it has a level of some factor whose box is not ticked; parts without that factor stay.
  const filters = document.querySelector(".filters");
  const narrow = () => {
    const off = new Set(all("input", filters).filter((box) => !box.checked).map((box) => box.value));
    for (const part of all("[data-levels]")) {
      part.toggleAttribute("hidden", marks(part).some((mark) => off.has(`f${mark.join("-")}`)));
    }
    const rows = all("tr[data-levels]");
    const seen = rows.filter((row) => !row.hasAttribute("hidden")).length;
    filters.querySelector("output").textContent = off.size ? `${seen} of ${rows.length} rows shown` : "";
  };
  if (filters) {
    filters.hidden = false;
    filters.addEventListener("change", narrow);
    filters.addEventListener("reset", () => setTimeout(narrow));
  }

  // A title is shown at once, and by a touch as well.
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  document.body.append(tip);
  const show = (event) => {
    const part = event.target.closest("svg g[data-levels]");
    tip.hidden = !part;
    if (part) {
      tip.textContent = part.dataset.tip;
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8))}px`;
    }
  };
  for (const part of all("svg g[data-levels]")) {
    const title = part.querySelector("title");
    part.dataset.tip = title.textContent;
    title.remove();
    part.setAttribute("aria-label", part.dataset.tip);
  }
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);

  const name = document.body.dataset.name;
  const link = (words, file, type, content) => {
    const made = Object.assign(document.createElement("a"), { href: "#", textContent: words, download: file });
    made.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([content()], { type }));
      made.href = url;
      setTimeout(() => { URL.revokeObjectURL(url); made.href = "#"; }, 60000);
    });
    return made;
  };
  const after = (part, made) => {
    const line = Object.assign(document.createElement("p"), { className: "take" });
    line.append(made);
    (part.closest(".scroll") || part).after(line);
  };
  const drawn = (svg) => {
    const copy = svg.cloneNode(true);
    for (const part of all("[hidden]", copy)) part.remove();
    for (const part of all("[data-tip]", copy)) {
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = part.dataset.tip;
      part.prepend(title);
    }
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
  };
  all("svg").forEach((svg, place) => {
    after(svg, link("figure as SVG", `${name}-figure-${place + 1}.svg`, "image/svg+xml", () => drawn(svg)));
  });
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const words = (part) => cell(part.textContent.replace(/\s+/g, " ").trim());
  const lines = (table) => all("tr", table)
    .filter((row) => !row.hasAttribute("hidden"))
    .map((row) => `${all("th, td", row).map(words).join(",")}\n`)
    .join("");
  all("table").forEach((table, place) => {
    if (table.rows.length > 2) {
      after(table, link("table as CSV", `${name}-table-${place + 1}.csv`, "text/csv", () => lines(table)));
    }
  });
  // All digits of all combinations and trials, also of those that the page has no room for.
  const data = document.getElementById("data");
  const whole = data ? JSON.parse(data.textContent) : {};
  const place = document.getElementById("whole");
  for (const [kind, text] of place ? Object.entries(whole) : []) {
    place.append(link(`all ${kind} as CSV, with all digits`, `${name}-${kind}.csv`, "text/csv", () => text));
  }
})();
