import { browserZone, chooseZone, isZoneChoice, nameOffset, zone } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";

const words = text.times;

/** The time zone of the times around it. Pressing it shows all times of the console in the other zone. `isShort` leaves out all but the zone. */
export function ZoneSwitch({ isShort = false }: { isShort?: boolean }) {
  const now = Date.now();
  const name = isShort ? nameOffset(now) : words.inZone(nameOffset(now));
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

/** Says that days are days in UTC: sums by day exist only for them. */
export function UtcDays() {
  return (
    <span class="zone" title={words.utcDaysAbout}>
      {words.utcDays}
    </span>
  );
}
