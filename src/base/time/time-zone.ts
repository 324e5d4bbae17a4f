import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time.ts";

/** From a time on, how far a time zone is ahead of UTC. */
export interface ZoneOffset {
  /** Milliseconds since the epoch, on the hour. */
  readonly fromMs: number;
  /** Negative behind UTC. */
  readonly minutes: number;
}

/** The days of a time zone, as numbers of its dates since the epoch. */
export class TimeZone {
  private constructor(
    readonly name: string,
    /** Null for UTC: the first format loads the rules of all zones, which would take milliseconds of each start. */
    private readonly format: Intl.DateTimeFormat | null,
  ) {}

  /** Coordinated Universal Time. */
  static readonly UTC = new TimeZone("UTC", null);

  /** Returns the time zone with a name of the IANA database, such as `Europe/Berlin`; null if there is none. */
  static find(name: string): TimeZone | null {
    // Names are letters with a few marks. Offsets, which some engines take, have no rules for summer time.
    if (!/^[A-Za-z][\w+/-]{1,63}$/.test(name)) return null;
    if (name === TimeZone.UTC.name) return TimeZone.UTC;
    try {
      return new TimeZone(
        name,
        new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" }),
      );
    } catch {
      return null;
    }
  }

  /** Returns the offset at a time, in minutes. */
  offsetAt(ms: number): number {
    if (this.format === null) return 0;
    const parts = this.format.formatToParts(ms);
    const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    const [, sign, hours, minutes] = OFFSET.exec(text) ?? [];
    return hours === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }

  /** Returns the day of a time. */
  dayOf(ms: number): number {
    return Math.floor((ms + this.offsetAt(ms) * MINUTE_MS) / DAY_MS);
  }

  /** Returns the time at which a day begins. */
  startOf(day: number): number {
    const midnight = day * DAY_MS;
    const near = midnight - this.offsetAt(midnight) * MINUTE_MS;
    // The offset of UTC's midnight may be that before or after a change.
    return midnight - this.offsetAt(near) * MINUTE_MS;
  }

  /** Returns the offsets from `fromMs` to `toMs`, in the order of time. A change is found if none follows within a day. */
  listOffsets(fromMs: number, toMs: number): readonly ZoneOffset[] {
    const begin = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
    let last: ZoneOffset = { fromMs: begin, minutes: this.offsetAt(begin) };
    const offsets = [last];
    for (let ms = begin; ms < toMs; ms += DAY_MS) {
      const end = Math.min(ms + DAY_MS, toMs);
      if (this.offsetAt(end) === last.minutes) continue;
      last = this.findChange(ms, end, last.minutes);
      offsets.push(last);
    }
    return offsets;
  }

  /** Returns the first offset between two times that is not `before`, to the hour. */
  private findChange(fromMs: number, toMs: number, before: number): ZoneOffset {
    let [low, high] = [Math.floor(fromMs / HOUR_MS), Math.ceil(toMs / HOUR_MS)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle * HOUR_MS) === before) low = middle;
      else high = middle;
    }
    return { fromMs: high * HOUR_MS, minutes: this.offsetAt(high * HOUR_MS) };
  }
}

const OFFSET = /^GMT([+-])(\d\d):(\d\d)$/;
