/** Texts of durations. */
export const durationText = {
  unitOf: (label: string) => `${label}: unit`,
  units: { days: "days", hours: "hours", minutes: "minutes", seconds: "seconds" },
  one: { days: "day", hours: "hour", minutes: "minute", seconds: "second" },
};
