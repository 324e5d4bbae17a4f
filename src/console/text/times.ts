/** Texts about times. */
export const timeText = {
  /** `zone` is the short form, such as UTC+1. */
  inZone: (zone: string) => `Times in ${zone}`,
  switchToUtc: (name: string) => `Times are shown in ${name}, the zone of this browser. Show them in UTC`,
  switchToBrowser: (name: string) => `Times are shown in UTC. Show them in ${name}, the zone of this browser`,
  onlyUtc: "Times are shown in UTC, which is also the zone of this browser.",
  daysIn: (zone: string) => `Days in ${zone}`,
};
