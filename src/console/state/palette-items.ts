/** What the command palette offers. Pure functions. */
import { paletteText } from "../text/palette.ts";
import { filterOptions, type Option } from "./filter-options.ts";

/** The most items that are shown. */
const MOST = 12;

/** Returns the pages that match a text: that of an id first, then screens, models, keys and accounts. The value is the path. */
export function listItems(
  typed: string,
  lists: {
    readonly screens: readonly Option[];
    readonly models: readonly Option[];
    readonly keys: readonly Option[];
    readonly accounts: readonly Option[];
  },
): readonly Option[] {
  const text = typed.trim();
  if (text === "") return lists.screens;
  const direct = pathOfId(text);
  const found: Option[] = direct === null ? [] : [direct];
  found.push(...filterOptions(lists.screens, text));
  found.push(
    ...filterOptions(lists.models, text).map(({ label, value }) =>
      toItem(label, modelPath(value), paletteText.model),
    ),
  );
  found.push(
    ...filterOptions(lists.keys, text).map(({ label, value }) =>
      toItem(label, keyPath(value), paletteText.key),
    ),
  );
  found.push(
    ...filterOptions(lists.accounts, text).map(({ label, value }) =>
      toItem(label, `/console/people/${value}`, paletteText.account),
    ),
  );
  return found.slice(0, MOST);
}

function toItem(label: string, value: string, detail: string): Option {
  return { label, value, detail };
}

function modelPath(id: string): string {
  if (id.startsWith("gateway-auto/")) return `/console/routing?tier=${encodeURIComponent(id)}`;
  return `/console/models/${id.split("/").map(encodeURIComponent).join("/")}`;
}

function keyPath(id: string): string {
  return `/console/requests?key_id=${id}`;
}

/** Returns the page about an id as a client, a log or the API shows it; null if the text is none. */
export function pathOfId(text: string): Option | null {
  if (!/^[a-z]+_\w{1,60}$/.test(text)) return null;
  const label = paletteText.openId(text);
  if (/^(gen|req)_/.test(text)) return toItem(label, `/console/requests/${text}`, paletteText.request);
  if (text.startsWith("key_")) return toItem(label, keyPath(text), paletteText.key);
  if (/^(org|user|acct)_/.test(text)) return toItem(label, `/console/people/${text}`, paletteText.account);
  return null;
}
