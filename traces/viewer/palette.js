// Colours. Fills differ for the three kinds of colour blindness too: a test computes how much.
// Work is filled; what waits is hatched, and the direction of the hatching says for what.

const FUNCTIONS = [
  "#3272c4", "#7cc7f0", "#157f3c", "#ecd94a", "#d08f9b", "#46308c", "#8a9a2b", "#b9ecd0", "#7a3048",
];
// The two darkest ones would drown in a dark page.
const FUNCTIONS_DARK = FUNCTIONS.map(
  (colour) => ({ "#46308c": "#9d86f9", "#7a3048": "#aa0969" })[colour] ?? colour
);

// For each style that is no function: colour on light, colour on dark, hatching.
const STYLES = {
  "function-other": ["#8fa3b8", "#6b7f94", ""],
  "work": ["#7fae96", "#5d8f77", ""],
  "access-write": ["#d9822b", "#e0913f", ""],
  "access-read": ["#8d8dd9", "#3f3fd0", ""],
  "access-both": ["#7a5195", "#9a70b5", ""],
  "map-0": ["#9db8d9", "#4d6a8f", ""],
  "map-1": ["#b7d3c0", "#527a62", ""],
  "map-2": ["#d8c9a3", "#84734a", ""],
  "map-3": ["#cdb6d6", "#75587f", ""],
  "category-host": ["#8a9a2b", "#9aaa3b", ""],
  "category-queue": ["#a9b7c6", "#64788c", ""],
  "category-launch": ["#d0d0c4", "#77776c", ""],
  "category-dispatch": ["#5b7fa6", "#5b7fa6", ""],
  "category-memory": ["#d9b38c", "#c9a37c", ""],
  "category-sync": ["#8c7bb5", "#9c8bc5", ""],
  "category-finding": ["#c62828", "#ff6b6b", ""],
  "category-marker": ["#444444", "#dddddd", ""],
  "cause-dependency": ["#a58500", "#d0ac28", "dots"],
  "cause-unit": ["#7d6a1c", "#ac963c", "dots"],
  "cause-producer": ["#a58500", "#d0ac28", "dots"],
  "cause-consumer": ["#7d6a1c", "#ac963c", "dots"],
  "cause-l1": ["#e0a04c", "#e8b069", "up"],
  "cause-l2": ["#dc842a", "#e6933f", "up"],
  "cause-slc": ["#c4621a", "#dc7630", "up"],
  "cause-dram": ["#a8370f", "#e0572c", "up"],
  "cause-dma": ["#a8370f", "#e0572c", "up"],
  "cause-bus": ["#c4621a", "#dc7630", "up"],
  "cause-threadgroup_memory": ["#b5478f", "#d066ab", "up"],
  "cause-atomic": ["#8a2f6b", "#bd5c9c", "bars"],
  "cause-barrier": ["#5f6368", "#a4a9b0", "down"],
  "cause-event": ["#7a7f87", "#8d939c", "down"],
  "cause-queue": ["#7a7f87", "#8d939c", "down"],
  "cause-host": ["#6f7a28", "#a3b04a", "down"],
  "cause-device": ["#4a6a8f", "#7f9fc4", "down"],
  "cause-launch": ["#8b8b7a", "#a9a998", "bars"],
  "cause-configuration": ["#6d8a86", "#86a8a4", "bars"],
  "cause-idle": ["#d9dce0", "#3a3f46", ""],
};
const UNKNOWN_STYLE = ["#7a7f87", "#8d939c", "down"];

/** Colour and hatching of a style of the legend on a light or dark page. */
function styleOf(name, dark) {
  const place = /^function-(\d+)$/.exec(name);
  if (place) return { colour: (dark ? FUNCTIONS_DARK : FUNCTIONS)[place[1]], hatch: "" };
  const [light, night, hatch] = STYLES[name] ?? UNKNOWN_STYLE;
  return { colour: dark ? night : light, hatch };
}

/** "#rrggbb" as three numbers. */
function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** Of two colours, `share` of the second. */
function mix(one, other, share) {
  const [a, b] = [channels(one), channels(other)];
  const parts = a.map((value, i) => Math.round(value + (b[i] - value) * share));
  return "#" + parts.map((value) => value.toString(16).padStart(2, "0")).join("");
}

/** Black or white, whichever reads better on a colour (relative luminance of WCAG). */
function inkOn(colour) {
  const linear = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.18 ? "#101418" : "#ffffff";
}
