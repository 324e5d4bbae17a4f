import { text } from "../../text/text.ts";
import { chooseUnit, toUnit } from "./duration-units.ts";

/** Returns a number of seconds in its largest whole unit: `30 days`, `1 hour`, `90 seconds`. */
export function printSeconds(seconds: number): string {
  const unit = chooseUnit(String(seconds));
  const count = toUnit(String(seconds), unit);
  return `${count} ${count === "1" ? text.durations.one[unit] : text.durations.units[unit]}`;
}
