// Adds what a page can do beyond being read: filters, sorting, words at the pointer, dark or light, and figures and tables to take away.
(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (name, own, parent) => {
    const part = Object.assign(document.createElement(name), own);
    parent?.append(part);
    return part;
  };

  // Dark or light: as the system has it until the reader says otherwise, which is remembered where the browser allows it.
  const remembered = (value) => {
    try {
      if (value !== undefined) localStorage.setItem("assay-theme", value);
      return localStorage.getItem("assay-theme");
    } catch {
      return value ?? null;
    }
  };
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const known = remembered();
  if (known === "dark" || known === "light") root.dataset.theme = known;
  const tools = made("div", { className: "tools" });
  document.body.prepend(tools);
  const theme = made("button", { type: "button", className: "theme" }, tools);
  const named = () => { theme.textContent = dark() ? "light" : "dark"; theme.setAttribute("aria-label", `show this page ${theme.textContent}`); };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remembered(root.dataset.theme); named(); });
  system.addEventListener("change", named);
  named();

  // A part is hidden when it has a level of some factor whose box is not ticked; parts without that factor stay.
  // What is hidden stands in the address, behind the place on the page: #doubts?hide=placement:hdd.
  const marks = (part) => part.dataset.levels.split(" ").filter(Boolean).map((mark) => mark.slice(1).split("-"));
  const filters = document.querySelector(".filters");
  const boxes = filters ? all("input", filters) : [];
  const level = (box) => `${box.closest("fieldset").querySelector("legend").textContent}:${box.closest("label").textContent.trim()}`;
  const address = () => {
    const [place, asked] = location.hash.slice(1).split("?");
    return { place: decodeURIComponent(place), hide: new URLSearchParams(asked ?? "").getAll("hide"), asked: asked !== undefined };
  };
  const keep = () => {
    const hide = boxes.filter((box) => !box.checked).map((box) => `hide=${encodeURIComponent(level(box)).replaceAll("%3A", ":")}`);
    const wanted = (address().place ? `#${encodeURIComponent(address().place)}` : "#") + (hide.length ? `?${hide.join("&")}` : "");
    if (wanted !== (location.hash || "#")) history.replaceState(null, "", wanted);
  };
  const narrow = () => {
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    for (const part of all("[data-levels]")) {
      part.toggleAttribute("hidden", marks(part).some((mark) => off.has(`f${mark.join("-")}`)));
    }
    const rows = all("#combinations tr[data-levels]");
    const seen = rows.filter((row) => !row.hasAttribute("hidden")).length;
    filters.querySelector("output").textContent = off.size ? `${seen} of ${rows.length} rows shown` : "";
  };
  const restore = () => {
    const { place, hide, asked } = address();
    if (filters && asked) {
      for (const box of boxes) box.checked = !hide.includes(level(box));
      narrow();
    } else if (filters) {
      keep();
    }
    const part = place && document.getElementById(place);
    if (!part) return;
    for (let outer = part; outer; outer = outer.parentElement?.closest("details")) if (outer.tagName === "DETAILS") outer.open = true;
    part.scrollIntoView();
  };
  if (filters) {
    filters.hidden = false;
    filters.addEventListener("change", () => { narrow(); keep(); });
    filters.addEventListener("reset", () => setTimeout(() => { narrow(); keep(); }));
  }
  addEventListener("hashchange", restore);
  if (location.hash) restore();

  // Tables are sorted by a click on a head: upwards, downwards, as they were. Numbers go by value, what is missing last.
  const UNITS = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  const value = (row, column) => {
    const part = row.cells[column];
    const text = part?.dataset.v ?? part?.textContent.replace(/\s+/g, " ").trim() ?? "";
    if (text === "" || text === "-") return null;
    const clock = /^(\d+):(\d\d) min$/.exec(text) ?? /^(\d+) h (\d+) min$/.exec(text);
    if (clock) return (Number(clock[1]) * 60 + Number(clock[2])) * (text.includes("h") ? 60 : 1);
    const found = /^([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)(?![\w.-])\s*([KMGT]?i?B)?/i.exec(text);
    return found ? Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] ?? 1) : text;
  };
  const compared = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), "en", { numeric: true });
  };
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    if (!body || !table.tHead || body.rows.length < 2) continue;
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = made("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", next);
        table.toggleAttribute("data-sorted", next !== "none");
        const by = original.map((row) => [value(row, column), row]);
        if (next !== "none") {
          const sign = next === "ascending" ? 1 : -1;
          by.sort(([one], [other]) => (one === null || other === null ? (one === null) - (other === null) : sign * compared(one, other)));
        }
        body.append(...by.map(([, row]) => row));
      });
    });
  }

  // A title is shown at once, and by a touch as well; in a figure over time all values at the pointer's time are.
  const tip = made("div", { className: "tip", hidden: true }, document.body);
  const tell = (words, x, y) => {
    tip.hidden = !words;
    tip.textContent = words;
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, y + 16 + tip.offsetHeight > innerHeight - 8 ? y - tip.offsetHeight - 12 : y + 16)}px`;
  };
  for (const part of all("svg g[data-levels]")) {
    const title = part.querySelector("title");
    part.dataset.tip = title.textContent;
    title.remove();
    part.setAttribute("aria-label", part.dataset.tip);
  }

  // The steps of a path: from where to where along the figure, and how high; those after the turn of an area are its lower edge.
  const steps = (path) => {
    const found = { up: [], down: [] };
    let x = 0, y = 0;
    for (const [, letter, one, other] of path.getAttribute("d").matchAll(/([MHV])(-?[\d.]+)(?:,(-?[\d.]+))?/g)) {
      if (letter === "M") [x, y] = [Number(one), Number(other)];
      else if (letter === "V") y = Number(one);
      else {
        const to = Number(one);
        (to >= x ? found.up : found.down).push([Math.min(x, to), Math.max(x, to), y]);
        x = to;
      }
    }
    return found;
  };
  const at = (edge, x) => edge.find(([from, to]) => x >= from && x < to)?.[2];
  const short = (number) => (Math.abs(number) >= 10 ? number.toFixed(0) : String(Number(number.toFixed(1))));
  const over = (svg) => {
    const [left, right, seconds] = svg.querySelector("[data-time]").dataset.time.split(" ").map(Number);
    const series = all("[data-series]", svg).map((path) => ({ ...path.dataset, ...steps(path), area: path.getAttribute("d").includes("Z") }));
    const jobs = all("[data-job]", svg).map((box) => [Number(box.getAttribute("x")), Number(box.getAttribute("width")), box.dataset.job]);
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    svg.append(cursor);
    const show = (x) => {
      if (x < left || x > right) return "";
      cursor.setAttribute("d", `M${x},0V${svg.viewBox.baseVal.height - 42}`);
      const lines = new Map();
      for (const one of series) {
        const [top, height, greatest] = one.axis.split(" ").map(Number);
        const high = at(one.up, x);
        if (high === undefined) continue;
        const low = one.area ? at(one.down, x) ?? high : top + height;
        const told = `${one.series} ${short(((low - high) / height) * greatest)}${one.unit && ` ${one.unit}`}`;
        lines.set(one.of, [...(lines.get(one.of) ?? []), told]);
      }
      const running = jobs.filter(([from, width]) => x >= from && x <= from + width).map(([, , name]) => name);
      const time = ((x - left) / (right - left)) * seconds;
      return [
        `${time.toFixed(1)} s${jobs.length ? `: ${running.join(", ") || "no job"}` : ""}`,
        ...[...lines].map(([of, values]) => `${of}: ${values.join(", ")}`),
      ].join("\n");
    };
    return { show, hide: () => cursor.removeAttribute("d"), left, right };
  };
  const timelines = new Map();
  const timeline = (svg) => {
    if (!timelines.has(svg)) timelines.set(svg, over(svg));
    return timelines.get(svg);
  };
  const clear = () => timelines.forEach((own) => own.hide());
  const show = (event) => {
    const svg = event.target.closest?.("svg.timeline");
    clear();
    if (svg) {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      return tell(timeline(svg).show(x), event.clientX, event.clientY);
    }
    const part = event.target.closest?.("svg g[data-levels]");
    return tell(part ? part.dataset.tip : "", event.clientX, event.clientY);
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; clear(); }, { passive: true });
  for (const svg of all("svg.timeline")) {
    svg.setAttribute("tabindex", "0");
    let x = null;
    svg.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const own = timeline(svg);
      x = Math.max(own.left, Math.min(own.right, x === null ? own.left : x + way * 6));
      const words = own.show(x);
      const place = new DOMPoint(x, 0).matrixTransform(svg.getScreenCTM());
      tell(words, place.x, Math.max(8, place.y));
    });
    svg.addEventListener("blur", () => { x = null; tip.hidden = true; clear(); });
  }

  const name = document.body.dataset.name;
  const link = (words, file, type, content) => {
    const own = made("a", { href: "#", textContent: words, download: file });
    own.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([content()], { type }));
      own.href = url;
      setTimeout(() => { URL.revokeObjectURL(url); own.href = "#"; }, 60000);
    });
    return own;
  };
  const after = (part, link) => {
    const line = made("p", { className: "take" });
    line.append(link);
    (part.closest(".scroll") || part).after(line);
  };
  // Alone, a figure has no style around it: its colours are written out, the light ones.
  const drawn = (svg) => {
    const copy = svg.cloneNode(true);
    for (const part of all("[hidden], .cursor", copy)) part.remove();
    for (const part of all("[data-tip]", copy)) {
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = part.dataset.tip;
      part.prepend(title);
    }
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy).replace(/var\(--[\w-]+,\s*([^)]+)\)/g, "$1");
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
  all("table:not(.plain)").forEach((table, place) => {
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
