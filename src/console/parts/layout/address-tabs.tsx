import { query, setQuery } from "../../state/location.ts";
import { type Tab, Tabs } from "./tabs.tsx";

/**
 * Tabs whose choice the address has as `tab`; the first one is shown without it. Choosing a tab removes the parameters `clears` from the
 * address, such as the search of a list in the tab before.
 */
export function AddressTabs(props: { label: string; tabs: readonly Tab[]; clears: readonly string[] }) {
  const { label, tabs, clears } = props;
  const first = tabs[0]?.id;
  return (
    <Tabs
      label={label}
      tabs={tabs}
      value={tabs.find(({ id }) => id === query.value["tab"])?.id ?? first ?? ""}
      onChoose={(id) =>
        setQuery({
          ...Object.fromEntries(clears.map((name) => [name, null])),
          tab: id === first ? null : id,
        })
      }
    />
  );
}
