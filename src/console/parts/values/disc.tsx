import { initialsOf } from "./initials.ts";

/** A coloured disc with the initials of a name, in place of a logo that would be loaded from elsewhere. */
export function Disc({ name, isLarge = false }: { name: string; isLarge?: boolean }) {
  return (
    <span class={isLarge ? "disc large" : "disc"} style={{ "--hue": hueOf(name) }} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}

/** Returns a hue in degrees that is always the same for a name. */
function hueOf(name: string): number {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return (hash * 47) % 360;
}
