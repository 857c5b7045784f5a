"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byKey = new Map(data.rows.map(row => [row.key, row]));
const FIRST = 200; // rows that are shown before one asks for all
const POINT = 6; // columns that say what a point is; behind them, what came out

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function time(seconds) {
  if (seconds === null) return "";
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["us", 1e-6]]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(4)} ${unit}`;
  }
  return `${(seconds * 1e9).toPrecision(4)} ns`;
}
const bytes = value => value === null ? "" : value.toLocaleString("en");
const percent = value => value === null ? "" : `${(100 * value).toFixed(0)}%`;
const times = value => value === null ? "" : `${value.toFixed(3)}x`;
const size = row => `${row.m}x${row.n}x${row.k}`;
const target = row => `${row.policy} ${row.chip} ${size(row)}`;

// A table that is sorted by the column that is clicked: [heading, value, shown, is text].
function table(id, columns, rows, limit = Infinity) {
  const place = document.getElementById(id);
  let by = -1, sign = 1;
  function fill() {
    const head = element("tr");
    columns.forEach(([title, , , text], number) => {
      const cell = element("th", title, { class: `${text ? "text" : ""}` });
      if (number === by) cell.classList.add(sign > 0 ? "up" : "down");
      cell.addEventListener("click", () => {
        sign = by === number ? -sign : 1;
        by = number;
        fill();
      });
      head.append(cell);
    });
    const sorted = by < 0 ? rows : [...rows].sort((a, b) => order(columns[by][1](a), columns[by][1](b)));
    const lines = sorted.slice(0, limit).map(row => {
      const line = element("tr", null, row.status === "failed" ? { class: "failed" } : {});
      const [kept, why] = row.status === "failed" ? [POINT, row.reason] : [columns.length, null];
      for (const [, value, shown, text] of columns.slice(0, kept)) {
        const found = shown ? shown(value(row), row) : value(row);
        line.append(element("td", found, { class: text || "" }));
      }
      if (why) line.append(element("td", why, { class: "text", colspan: columns.length - POINT }));
      return line;
    });
    place.replaceChildren(head, ...lines);
  }
  const order = (a, b) => a === b ? 0 : a === null ? 1 : b === null ? -1 : (a < b ? -sign : sign);
  fill();
}

function best() {
  const found = Object.values(data.best).map(key => byKey.get(key));
  const chips = [...new Set(found.map(row => row.chip))];
  const sizes = [...new Set(found.map(row => `${row.policy} ${size(row)}`))];
  const head = element("tr");
  head.append(element("th", "m x n x k", { class: "text" }), ...chips.map(c => element("th", c, { class: "text" })));
  const lines = sizes.map(name => {
    const line = element("tr");
    line.append(element("td", name, { class: "text" }));
    for (const chip of chips) {
      const row = found.find(each => each.chip === chip && `${each.policy} ${size(each)}` === name);
      const cell = element("td", row ? row.kernel : "none runs", { class: "text" });
      if (row) cell.append(element("small", `${time(row.seconds)}, ${percent(row.least_seconds / row.seconds)}`));
      line.append(cell);
    }
    return line;
  });
  document.getElementById("best").replaceChildren(head, ...lines);
}

function fixed() {
  table("fixed", [
    ["kernel", row => row.kernel, null, "text"],
    ["weights", row => row.policy, null, "text"],
    ["mean", row => row.mean, times],
    ["worst", row => row.worst, times],
    ["where", row => row.where, null, "text"],
    ["does not run", row => row.missing, value => value || ""],
  ], data.fixed);
}

function plot(name) {
  const rows = data.rows.filter(row => row.status === "ok" && target(row) === name);
  const front = new Set(data.fronts[name]);
  const [width, height, left, bottom] = [860, 340, 70, 44];
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  const logs = rows.map(row => Math.log(row.seconds));
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const most = Math.max(1024, ...rows.map(row => row.threadgroup_memory));
  const x = row => left + 20 + (width - left - 60) * (high > low ? (Math.log(row.seconds) - low) / (high - low) : 0.5);
  const y = row => height - bottom - 14 - (height - bottom - 40) * row.threadgroup_memory / most;
  svg.append(drawn("path", { class: "axis", fill: "none", d: `M${left} 10V${height - bottom}H${width - 10}` }));
  for (const share of [0, 0.5, 1]) {
    const there = { seconds: Math.exp(low + share * (high - low)), threadgroup_memory: share * most };
    svg.append(drawn("text", { x: x(there), y: height - bottom + 18, "text-anchor": "middle" }, time(there.seconds)));
    svg.append(drawn("text", { x: left - 8, y: y(there) + 4, "text-anchor": "end" }, bytes(Math.round(there.threadgroup_memory))));
  }
  svg.append(drawn("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "time (logarithmic)"));
  svg.append(drawn("text", { transform: `translate(14 ${(height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "threadgroup memory, bytes"));
  const marked = rows.filter(row => front.has(row.key)).sort((a, b) => a.seconds - b.seconds);
  svg.append(drawn("path", { class: "line", d: marked.map((row, i) => `${i ? "L" : "M"}${x(row)} ${y(row)}`).join("") }));
  for (const row of [...rows].sort((a, b) => front.has(a.key) - front.has(b.key))) {
    const group = drawn("g", { class: front.has(row.key) ? "front" : "" });
    const circle = drawn("circle", { class: "point", cx: x(row), cy: y(row), r: 3 + 1.5 * Math.sqrt(row.resident_simdgroups) });
    circle.append(drawn("title", {}, `${row.kernel}\n${time(row.seconds)}, ${bytes(row.threadgroup_memory)} bytes, ` +
      `${row.resident_threadgroups} threadgroups (${row.resident_simdgroups} simdgroups) on a core`));
    group.append(circle);
    svg.append(group);
  }
  document.getElementById("plot").replaceChildren(svg);
}

function targets() {
  const select = document.getElementById("target");
  const names = Object.keys(data.fronts);
  select.replaceChildren(...names.map(name => element("option", name)));
  select.addEventListener("change", () => plot(select.value));
  if (names.length) plot(names[0]);
}

function points() {
  const filter = document.getElementById("filter"), more = document.getElementById("more");
  let limit = FIRST;
  const columns = [
    ["kernel", row => row.kernel, null, "text"],
    ["weights", row => row.policy, null, "text"],
    ["chip", row => row.chip, null, "text"],
    ["m", row => row.m], ["n", row => row.n], ["k", row => row.k],
    ["time", row => row.seconds, time],
    ["of the least", row => row.seconds ? row.least_seconds / row.seconds : null, percent],
    ["bound", row => row.bound, null, "text"],
    ["most time", row => row.cause, (cause, row) => cause ? `${cause} ${percent(row.share)}` : "", "text"],
    ["threadgroup memory", row => row.threadgroup_memory, bytes],
    ["threadgroups on a core", row => row.resident_threadgroups],
    ["limited by", row => row.limiter, null, "text"],
    ["DRAM bytes", row => row.dram_bytes === null ? null : Math.round(row.dram_bytes), bytes],
  ];
  const texts = new Map(data.rows.map(row => [row, Object.values(row).join(" ").toLowerCase()]));
  function fill() {
    const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const found = data.rows.filter(row => words.every(word => texts.get(row).includes(word)));
    table("rows", columns, found, limit);
    document.getElementById("count").textContent = `${found.length} of ${data.rows.length}`;
    more.hidden = found.length <= limit;
  }
  filter.addEventListener("input", fill);
  more.addEventListener("click", () => { limit = Infinity; fill(); });
  fill();
}

const failed = data.rows.filter(row => row.status !== "ok").length;
document.getElementById("about").textContent =
  `${data.rows.length} points, ${failed} without a time; predicted by Assay's model of the chips`;
best();
targets();
fixed();
points();
