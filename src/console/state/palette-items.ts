/** What the command palette offers. Pure functions. */
import { text } from "../text/text.ts";
import { filterOptions, type Option } from "./filter-options.ts";

/** The maximum number of items that are shown. */
const MAX_ITEMS = 12;

/** The tabs of an account's page that can be named after the account: `northwind policy`. */
const TABS = ["members", "invitations", "teams", "keys", "budgets", "policy", "usage", "responses"] as const;

/** Returns the pages that match a text: that of an id first, then screens and views of them, models, keys and accounts. The value is the path. */
export function listItems(
  typed: string,
  lists: {
    readonly screens: readonly Option[];
    /** Screens with filters, such as the rejected requests. */
    readonly views: readonly Option[];
    readonly models: readonly Option[];
    readonly keys: readonly Option[];
    readonly accounts: readonly Option[];
  },
): readonly Option[] {
  const query = typed.trim();
  if (query === "") return lists.screens;
  const direct = pathOfId(query);
  const found: Option[] = direct === null ? [] : [direct];
  // The id of a kept response is that of its generation.
  if (direct !== null && query.startsWith("gen_"))
    found.push(toItem(direct.label, responsePath(query), text.palette.response));
  found.push(...filterOptions(lists.screens, query), ...filterOptions(lists.views, query));
  found.push(
    ...filterOptions(lists.models, query).map(({ label, value }) =>
      toItem(label, modelPath(value), text.palette.model),
    ),
  );
  found.push(
    ...filterOptions(lists.keys, query).map(({ label, value }) =>
      toItem(label, keyPath(value), text.palette.key),
    ),
  );
  found.push(
    ...filterOptions(lists.accounts, query).map(({ label, value }) =>
      toItem(label, `/console/people/${value}`, text.palette.account),
    ),
  );
  if (found.length < MAX_ITEMS) found.push(...findTabs(lists.accounts, query));
  return found.slice(0, MAX_ITEMS);
}

/** Returns tabs of accounts, for a text of several words that names an account and a tab. */
function findTabs(accounts: readonly Option[], query: string): readonly Option[] {
  if (!/\s/.test(query)) return [];
  const tabs = accounts.flatMap(({ label, value }) =>
    TABS.map((tab) =>
      toItem(
        `${label}: ${text.people.tabs[tab]}`,
        `/console/people/${value}?tab=${tab}`,
        text.palette.account,
      ),
    ),
  );
  return filterOptions(tabs, query);
}

function toItem(label: string, value: string, detail: string): Option {
  return { label, value, detail };
}

function modelPath(id: string): string {
  if (id.startsWith("gateway-auto/")) return `/console/routing?tier=${encodeURIComponent(id)}`;
  return `/console/models/${id.split("/").map(encodeURIComponent).join("/")}`;
}

function keyPath(id: string): string {
  return `/console/keys/${id}`;
}

function responsePath(id: string): string {
  return `/console/responses/${id}`;
}

/** Returns the page about an id as a client, a log or the API shows it; null if the text is not an id. */
export function pathOfId(id: string): Option | null {
  if (!/^[a-z]+_\w{1,60}$/.test(id)) return null;
  const label = text.palette.openId(id);
  if (/^(gen|req)_/.test(id)) return toItem(label, `/console/requests/${id}`, text.palette.request);
  if (/^(conv|items)_/.test(id)) return toItem(label, responsePath(id), text.palette.response);
  if (id.startsWith("key_")) return toItem(label, keyPath(id), text.palette.key);
  if (/^(org|user|acct)_/.test(id)) return toItem(label, `/console/people/${id}`, text.palette.account);
  return null;
}
