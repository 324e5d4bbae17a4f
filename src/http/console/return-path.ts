/** The longest address of a screen to return to. Characters. */
const MAX_CHARS = 2_000;
const CONSOLE = "/console";
/** Represents the gateway's own origin. A path that leads elsewhere changes it. */
const OWN = "http://gateway.invalid";

/**
 * Returns the screen of the console to show after a sign-in: `asked` if it is an address of the console, otherwise the first screen. With
 * other addresses, a link to the gateway could lead to another site.
 */
export function readReturnPath(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > MAX_CHARS || !asked.startsWith(CONSOLE)) return CONSOLE;
  if (!URL.canParse(asked, OWN)) return CONSOLE;
  // Parsed as a browser parses it: without dot segments, and with backslashes as slashes.
  const { origin, pathname, search } = new URL(asked, OWN);
  const isOfConsole = pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`);
  return origin === OWN && isOfConsole ? pathname + search : CONSOLE;
}
