"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 40rem)");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const problems = data.control;
let chosen = { problem: data.problem.name, index: data.problem.index };

const round = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString("en");
const whole = (value) => Math.round(value).toLocaleString("en");
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Shares are percent in words, in hovers and along axes.
const share = data.axes.is_share;
const currency = data.axes.currency || "";
// As labelworth.wording.money does: hundredths of what is not whole.
const cents = (value) => Math.abs(value) >= 0.01 && Math.abs(value) < 1000 && !Number.isInteger(value);
const sum = (value) => (cents(value) ? value.toFixed(2) : Math.abs(value) < 0.01 ? round(value) : whole(value));
const money = (value) => `${currency}${/[A-Za-z]$/.test(currency) ? " " : ""}${sum(value)}`;
const shown = (value, digits = 3) => (share ? `${round(100 * value, digits)} %` : round(value, digits));
const errorFormat = share ? ".2~%" : ".4~g";
const errorAxis = share ? { tickformat: ".2~%" } : {};
const solution = () => problems[chosen.problem].solutions[chosen.index];

function layout(x, y, more = {}) {
  const axis = { gridcolor: color("line"), zeroline: false, automargin: true, linecolor: color("line") };
  // Ticks at 1, 2 and 5 times the powers of ten, written as plain numbers.
  const logarithmic = { dtick: "D2", exponentformat: "power", tickformat: "~g" };
  const complete = (given) => ({ ...axis, ...(given.type === "log" ? logarithmic : {}), ...given, title: { text: given.title } });
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: color("ink"), family: "system-ui, sans-serif", size: narrow.matches ? 11 : 13 },
    margin: { l: 8, r: 8, t: 8, b: 8 }, hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    xaxis: complete(x), yaxis: complete(y),
    ...more,
  };
}

function draw(id, traces, shape) {
  const element = document.getElementById(id);
  if (element) Plotly.react(element, traces, shape, { responsive: true, displaylogo: false, displayModeBar: false });
}

function band(x, low, high, shade) {
  return {
    x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()],
    fill: "toself", type: "scatter", mode: "lines", line: { width: 0 }, fillcolor: color(shade) + "33",
    name: "90 % interval", hoverinfo: "skip",
  };
}

// A narrow logarithmic axis has hardly a tick.
const labelAxis = (labels) => ({
  title: data.axes.labels, type: labels[labels.length - 1] > 8 * labels[0] ? "log" : "linear",
});

function here(x, y) {
  return {
    x: [x], y: [y], mode: "markers", name: "recommended", type: "scatter",
    marker: { size: 15, symbol: "star", color: color("orange"), line: { width: 1.5, color: color("paper") } },
  };
}

function drawFrontier() {
  const { cloud, boundary } = data.frontier;
  const point = solution();
  const of = (points, key) => points.map((one) => one[key]);
  draw("frontier-chart", [
    {
      x: of(cloud, "cost"), y: of(cloud, "error"), text: of(cloud, "name"), mode: "markers", type: "scatter",
      name: "achievable", hovertemplate: `%{text}<br>cost ${currency ? `${currency} ` : ""}%{x:,.4~g}<br>%{y:${errorFormat}}<extra></extra>`,
      marker: { size: 6, color: color("faint"), opacity: 0.45 },
    },
    {
      x: of(boundary, "cost"), y: of(boundary, "error"), text: of(boundary, "name"), mode: "lines+markers",
      type: "scatter", name: "nothing better", line: { color: color("blue"), width: 2.5 }, marker: { size: 6 },
      hovertemplate: `%{text}<br>cost ${currency ? `${currency} ` : ""}%{x:,.4~g}<br>%{y:${errorFormat}}<extra></extra>`,
    },
    here(point.cost, point.error),
  ], layout({ title: currency ? `${data.axes.cost} (${currency})` : data.axes.cost }, { title: "", type: data.axes.error_scale, ...errorAxis }));
}

function drawSurface() {
  if (!data.surface) return;
  const { n_samples, labeled_fractions, errors } = data.surface;
  const point = solution();
  const logs = errors.map((row) => row.map((value) => (value > 0 ? Math.log10(value) : null)));
  const known = logs.flat().filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const ticks = [0, 1, 2, 3, 4].map((step) => low + (step * (high - low)) / 4);
  const traces = [{
    x: n_samples, y: labeled_fractions, z: logs, customdata: errors, type: "contour", ncontours: 14,
    colorscale: dark.matches ? "Viridis" : "YlGnBu", reversescale: !dark.matches,
    contours: { coloring: "heatmap" }, line: { width: 0.6, color: color("faint") },
    colorbar: { thickness: 12, outlinewidth: 0, tickvals: ticks, ticktext: ticks.map((value) => shown(10 ** value, 2)) },
    hovertemplate: `%{x:,} samples, %{y:.1%} labeled<br>%{customdata:${errorFormat}}<extra></extra>`,
  }];
  if (point.n_samples && point.labeled_fraction) traces.push(here(point.n_samples, point.labeled_fraction));
  draw("surface-chart", traces, layout(
    { title: "samples", type: "log" }, { title: "labeled fraction", type: "log", tickformat: ".2~p" }, { showlegend: false },
  ));
}

function drawForecast() {
  if (!data.forecast) return;
  const known = data.forecast;
  const line = (key, name, dash, shade) => ({
    x: known.labels, y: known[key], mode: "lines", type: "scatter", name, line: { dash, color: color(shade), width: 2 },
  });
  const traces = [
    band(known.labels, known.low, known.high, "blue"),
    line("value", "forecast", "solid", "blue"),
  ];
  if (known.power_law) traces.push(line("power_law", "power law", "dash", "faint"));
  if (known.asymptotic) traces.push(line("asymptotic", "asymptotic", "dot", "green"));
  if (known.measured) traces.push({
    x: known.measured.labels, y: known.measured.value, mode: "markers", type: "scatter", name: "pilot, cross-validated",
    marker: { color: color("ink"), size: 7 },
  });
  const total = solution().total_labels;
  draw("forecast-chart", traces, layout(
    labelAxis(known.labels), { title: "", rangemode: data.axes.is_metric ? "normal" : "tozero", ...errorAxis },
    { shapes: [{ type: "line", x0: total, x1: total, yref: "paper", y0: 0, y1: 1, line: { color: color("orange"), width: 2, dash: "dot" } }] },
  ));
}

function drawWorth() {
  if (!data.worth) return;
  const known = data.worth;
  const total = solution().total_labels;
  const traces = [{
    x: known.labels, y: known.value, mode: "lines", type: "scatter", name: "worth",
    line: { color: color("green"), width: 2.5 }, hovertemplate: "%{x:,} labels<br>%{y:.2~g}<extra></extra>",
  }];
  if (known.low) traces.unshift(band(known.labels, known.low, known.high, "green"));
  draw("worth-chart", traces, layout(
    labelAxis(known.labels),
    { title: "", rangemode: "tozero", zeroline: true, zerolinecolor: color("faint"), tickformat: ".2~g" },
    { showlegend: false, shapes: [{ type: "line", x0: total, x1: total, yref: "paper", y0: 0, y1: 1, line: { color: color("orange"), width: 2, dash: "dot" } }] },
  ));
}

function drawAll() { drawFrontier(); drawSurface(); drawForecast(); drawWorth(); }

function say() {
  const { title } = problems[chosen.problem];
  const point = solution();
  const range = point.labels_low == null ? "" : ` (90 %: ${whole(point.labels_low)}–${whole(point.labels_high)})`;
  const amount = chosen.problem === "target" ? shown(point.amount) : money(point.amount);
  document.getElementById("amount-label").textContent = `${title}: ${amount}`;
  document.getElementById("amount").setAttribute("aria-valuetext", `${title} ${amount}`);
  document.getElementById("recommended").textContent =
    `${point.labels > data.axes.most_bought ? "By the forecast, but plan again before going so far:" : "Buy"} ${whole(point.labels)} more ${data.axes.bought}${range}: ${point.design}. That costs ${money(point.cost)} with what is held. ` +
    `Expected ${data.axes.error}: ${shown(point.error)}.`;
}

function choose(problem, index) {
  chosen = { problem, index };
  const slider = document.getElementById("amount");
  slider.max = problems[problem].solutions.length - 1;
  slider.value = index;
  say();
  drawAll();
}

function nearest(problem) {
  const cost = solution().cost;
  const costs = problems[problem].solutions.map((one) => Math.abs(one.cost - cost));
  return costs.indexOf(Math.min(...costs));
}

function build() {
  const box = document.getElementById("problem");
  for (const [name, { title, solutions }] of Object.entries(problems)) {
    if (!solutions.length) continue;
    const label = document.createElement("label");
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "problem", value: name });
    radio.checked = name === chosen.problem;
    radio.addEventListener("change", () => choose(name, nearest(name)));
    label.append(radio, ` ${title}`);
    box.append(label);
  }
  const slider = document.getElementById("amount");
  slider.addEventListener("input", () => choose(chosen.problem, Number(slider.value)));
  document.querySelector("#control form").addEventListener("submit", (event) => event.preventDefault());
  for (const look of [dark, narrow]) look.addEventListener("change", drawAll);
  choose(chosen.problem, chosen.index);
  document.documentElement.dataset.ready = calm.matches ? "calm" : "yes";
}

build();
