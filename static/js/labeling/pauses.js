// How long to wait before the next try: longer each time, and never shorter than the server asks for.
const SECONDS = [2, 5, 10, 30, 60, 120];

export class Pauses {
  #tries = 0;

  // Returns milliseconds. A tenth more or less, so that many pages do not come back at the same moment.
  next(error) {
    const own = SECONDS[Math.min(this.#tries, SECONDS.length - 1)];
    this.#tries += 1;
    const asked = error?.retryAfter ?? 0;
    return 1000 * (asked > own ? asked * (1 + Math.random() / 10) : own * (0.9 + Math.random() / 5));
  }

  reset() {
    this.#tries = 0;
  }
}
