"use strict";
// The span of time that all charts of a page show together. Who draws adds a function to `changed`.
const timeView = (end) => ({
  min: 0, max: end, changed: [],
  set(min, max) {
    const span = Math.min(end, Math.max(max - min, end / 1e6, 0.001));
    const from = Math.min(Math.max(0, min), end - span);
    Object.assign(this, { min: from, max: from + span });
    this.changed.forEach((told) => told());
  },
  reset() { this.set(0, end); },
  move(by) { this.set(this.min + by, this.max + by); },
  zoom(factor, around = (this.min + this.max) / 2) {
    this.set(around - (around - this.min) * factor, around + (this.max - around) * factor);
  },
});
