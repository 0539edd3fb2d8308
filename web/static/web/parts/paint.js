/**
 * How the colours of a game look: fills by theme (app.css), and marks that tell them apart without their colour.
 *
 * @module
 */

/** @type {Readonly<Record<string, string>>} in a cell of ten by ten units */
export const MARKS = {
  blue: "M3 7l4-4",
  yellow: "M4.5 4.5h1v1h-1z",
  red: "M3 3l4 4m0-4l-4 4",
  green: "M3 5h4",
  orange: "M5 3v4m-2-2h4",
};

/** @param {string} colour */
export const fill = (colour) => `var(--${colour})`;
