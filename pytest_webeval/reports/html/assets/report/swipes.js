// Swipes of a finger to the left or to the right.

const LEAST_PIXELS = 40;

/** Call `onSwipe` with 1 for a swipe to the left, which asks for what comes next, and with -1 for one to the right. */
export function listenToSwipes(box, onSwipe) {
  let start = null;
  box.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "touch" && event.isPrimary ? [event.clientX, event.clientY] : null;
  });
  box.addEventListener("pointercancel", () => (start = null)); // the browser scrolls or zooms
  box.addEventListener("pointerup", (event) => {
    const direction = start ? swipeDirection(event.clientX - start[0], event.clientY - start[1]) : 0;
    start = null;
    if (direction) onSwipe(direction);
  });
}

/** 1 for a way to the left, -1 for one to the right, 0 for a short or a steep one. */
export function swipeDirection(across, down) {
  if (Math.abs(across) < LEAST_PIXELS || Math.abs(across) < 2 * Math.abs(down)) return 0;
  return across < 0 ? 1 : -1;
}
