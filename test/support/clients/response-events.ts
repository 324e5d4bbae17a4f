/** Returns the events of a stream of the Responses API, without keep-alives and the end. */
// biome-ignore lint/suspicious/noExplicitAny: tests access members of events
export function eventsOf(text: string): any[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("event: "))
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)));
}
