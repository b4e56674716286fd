"use strict";
// Numbers as people read them, and the marks of axes. Times are simulated seconds.
const Format = (() => {
  const NONE = "–";
  const digits3 = (value) => {
    if (value === 0) return "0";
    const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value)))));
    return String(Number(value.toFixed(digits)));
  };
  const two = (number) => String(number).padStart(2, "0");

  function duration(seconds) {
    if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return NONE;
    if (seconds < 0) return "−" + duration(-seconds);
    if (seconds < 59.95) return digits3(seconds) + " s";
    let whole = Math.round(seconds);
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
    whole = Math.round(seconds / 60);
    if (whole < 1440) return `${Math.floor(whole / 60)} h ${two(whole % 60)} min`;
    whole = Math.round(seconds / 3600);
    return `${Math.floor(whole / 24)} d ${whole % 24} h`;
  }

  const number = (value) => (value === null || value === undefined ? NONE
    : value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0 }));
  const percent = (part) => (part === null || part === undefined ? NONE : (part * 100).toFixed(1) + " %");

  // Distances between marks that divide clocks well.
  const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
    3600, 7200, 10800, 21600, 43200];
  for (const scale of [1, 10, 100, 1000, 10000]) for (const days of [1, 2, 5]) STEPS.push(86400 * days * scale);

  const stepFor = (range, most) => STEPS.find((step) => range / step <= most) || STEPS[STEPS.length - 1];

  function unitOf(step) {
    if (step >= 86400) return "d";
    if (step >= 3600) return "h";
    if (step >= 60) return "h:min";
    return step >= 1 ? "h:min:s" : "s";
  }

  function tick(seconds, step) {
    switch (unitOf(step)) {
      case "d": return String(Math.round(seconds / 86400));
      case "h": return String(Math.round(seconds / 3600));
      case "h:min": return `${Math.floor(seconds / 3600)}:${two(Math.round(seconds / 60) % 60)}`;
      case "h:min:s": {
        const whole = Math.round(seconds);
        return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
      }
      default: return String(Number(seconds.toFixed(3)));
    }
  }

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  return { NONE, duration, number, percent, STEPS, stepFor, unitOf, tick, color };
})();
