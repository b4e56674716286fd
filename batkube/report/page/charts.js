"use strict";
// Lines over simulated time, and distributions, by uPlot.
const Charts = (() => {
  const made = [];
  const light = (name, alpha) => {
    const text = Format.color(name);
    return text.startsWith("#") ? text + Math.round(alpha * 255).toString(16).padStart(2, "0") : text;
  };
  const font = () => `12px ${Format.color("--sans")}`;

  function axis(more) {
    return {
      stroke: () => Format.color("--muted"),
      font: font(), labelFont: font(), labelSize: 16, labelGap: 0,
      grid: { stroke: () => Format.color("--grid"), width: 1 },
      ticks: { show: false }, gap: 4,
      ...more,
    };
  }

  function create(holder, options, data) {
    const box = document.createElement("div");
    holder.append(box);
    const size = () => ({ width: Math.max(200, holder.clientWidth), height: options.tall });
    const legend = { markers: { width: 0, fill: (u, i) => Format.color(options.colors[i]) } };
    const plot = new uPlot({ ...size(), padding: [10, 28, 0, 0], legend, ...options }, data, box);
    new ResizeObserver(() => {
      const wanted = size();
      if (wanted.width !== plot.width && holder.clientWidth) plot.setSize(wanted);
    }).observe(holder);
    made.push(plot);
    return plot;
  }

  // `lines`: [{label, color, values, fill, width}]; `show`: a value as text.
  function overTime(holder, view, gutter, { times, lines, show, label, tall = 170, top }) {
    const stepped = uPlot.paths.stepped({ align: 1 });
    const plot = create(holder, {
      tall,
      colors: ["--muted", ...lines.map((line) => line.color)],
      scales: {
        x: { time: false, range: () => [view.min, view.max] },
        y: { range: (_, low, high) => (top ? [0, Math.max(top, high || 0)] : [0, Math.max(1, (high || 0) * 1.08)]) },
      },
      axes: [
        axis({ incrs: Format.STEPS, space: 86, size: 26, values: (_, marks, __, ___, step) => marks.map((time) => Format.tick(time, step)) }),
        axis({ size: gutter - 18, label, labelSize: 18, space: 34, values: (_, marks) => marks.map((value) => (value === null ? "" : show(value, true))) }),
      ],
      series: [
        { label: "time", value: (_, time) => Format.duration(time) },
        ...lines.map((line) => ({
          label: line.label, stroke: () => Format.color(line.color), width: line.width || 1.5, paths: stepped,
          fill: line.fill ? () => light(line.color, 0.16) : undefined, points: { show: false },
          dash: line.dash, value: (_, value) => show(value, false),
        })),
      ],
      cursor: {
        sync: { key: "time", setSeries: false }, y: false, points: { size: 6 },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { view.reset(); return null; } },
      },
      hooks: {
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          view.set(from, to);
        }],
      },
    }, [times, ...lines.map((line) => line.values)]);
    view.changed.push(() => plot.setScale("x", { min: view.min, max: view.max }));
    return plot;
  }

  // Which marks of a logarithmic axis are named: few enough to be read.
  function logMarks(u, splits) {
    const decades = Math.log10(u.scales.x.max / u.scales.x.min);
    const named = decades < 1.2 ? [1, 2, 3, 4, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
    return splits.map((value) => (named.includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toFixed(3))) ? value : null));
  }

  // The part of the values that do not go beyond x.
  function distribution(holder, gutter, { values, label, show, logarithmic, least, marks }) {
    const sorted = Float64Array.from(values).sort();
    const n = sorted.length, xs = [], ys = [];
    const every = Math.max(1, Math.floor(n / 4000));
    if (n) { xs.push(logarithmic ? Math.max(least, sorted[0]) : Math.min(least, sorted[0])); ys.push(0); }
    for (let i = 0; i < n; i++) {
      if (i + 1 < n && (sorted[i + 1] === sorted[i] || (i % every !== 0 && i < n - every))) continue;
      xs.push(logarithmic ? Math.max(least, sorted[i]) : sorted[i]);
      ys.push((i + 1) / n);
    }
    const scale = logarithmic
      ? { time: false, distr: 3, log: 10, range: (_, low, high) => [least, Math.max(least * 2, high * 1.02)] }
      : { time: false, range: (_, low, high) => [Math.min(least, low), high > low ? high : low + 1] };
    return create(holder, {
      tall: 230,
      colors: ["--muted", "--s0"],
      scales: { x: scale, y: { range: () => [0, 1] } },
      axes: [
        axis({ size: 24, label, labelSize: 20, space: 70, values: (u, found) => found.map((value) => (value === null ? "" : show(value, true, found))), ...marks }),
        axis({ size: gutter - 18, label: "part of jobs", labelSize: 18, values: (_, found) => found.map((value) => Math.round(value * 100) + " %") }),
      ],
      series: [
        { label: "at most", value: (_, value) => show(value, false) },
        { label: "jobs", stroke: () => Format.color("--s0"), fill: () => light("--s0", 0.1), width: 1.75,
          paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (_, value) => Format.percent(value) },
      ],
      cursor: { y: false, drag: { x: false, y: false } },
    }, [xs, ys]);
  }

  const redraw = () => made.forEach((plot) => plot.redraw(false));
  return { overTime, distribution, logMarks, redraw };
})();
