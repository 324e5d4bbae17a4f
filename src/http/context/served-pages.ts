import { dayOf } from "../../base/time/time.ts";
import type { Serving } from "../../core/generation/call/call.ts";

/** Makes something for responses of what is served at a time, in milliseconds since the epoch. Results are kept by it. */
type PageMaker<Page> = (serving: Serving, now: number) => Page;

/** What was made of the served models for responses. It is kept until other models are served, or a day begins on which prices may change. */
export class ServedPages {
  private serving: Serving | null = null;
  private day = Number.NaN;
  private readonly made = new Map<PageMaker<unknown>, unknown>();

  /** Returns what `make` makes, which is made once. */
  of<Page>(make: PageMaker<Page>, serving: Serving, now: number): Page {
    const day = dayOf(now);
    if (serving !== this.serving || day !== this.day) this.made.clear();
    this.serving = serving;
    this.day = day;
    if (!this.made.has(make)) this.made.set(make, make(serving, now));
    return this.made.get(make) as Page;
  }
}
