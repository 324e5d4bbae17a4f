import { browserZone, chooseZone, isZoneChoice, nameOffset, zone } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";

const words = text.times;

const LABELS = { times: words.inZone, days: words.daysIn, short: (zone: string) => zone } as const;

/** The time zone of the times or days around it. Pressing it shows all times of the console in the other zone. */
export function ZoneSwitch({ kind = "times" }: { kind?: keyof typeof LABELS }) {
  const now = Date.now();
  const name = LABELS[kind](nameOffset(now));
  if (!isZoneChoice(now))
    return (
      <span class="zone" title={words.onlyUtc}>
        {name}
      </span>
    );
  const isUtc = zone.value === "utc";
  const title = isUtc ? words.switchToBrowser(browserZone) : words.switchToUtc(browserZone);
  return (
    <button
      type="button"
      class="zone"
      title={title}
      aria-label={`${name}. ${title}`}
      onClick={() => chooseZone(isUtc ? "browser" : "utc")}
    >
      {name}
    </button>
  );
}
