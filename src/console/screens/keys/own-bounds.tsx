import { text } from "../../text/text.ts";
import { type Bounds, describeBounds } from "./key-bounds.ts";

/** Says within which bounds a member makes keys, and how many are left. */
export function OwnBounds({ bounds }: { bounds: Bounds }) {
  const sentences = bounds.count === 0 ? [text.keys.noOwnKeys] : describeBounds(bounds);
  return <p class="quiet">{sentences.join(" ")}</p>;
}
