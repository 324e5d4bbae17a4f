import type { PinnedSetting } from "../../api/schema.ts";
import { text } from "../../text/text.ts";
import { Icon } from "../values/icon.tsx";

/** Says that a file or variable sets a value, so that it cannot be changed here. */
export function PinnedNote({ pinned }: { pinned: PinnedSetting }) {
  return (
    <span class="pinned-note" title={text.config.pinnedAbout}>
      <Icon name="lock" size={14} />
      {printPinned(pinned)}
    </span>
  );
}

/** Returns where a value is set: "Set in gateway.yaml:12". */
export function printPinned({ file, line, variable, gateway }: PinnedSetting): string {
  const name = file?.split("/").at(-1) ?? "";
  const place =
    variable === null
      ? text.config.setInFile(line === null ? name : `${name}:${line}`)
      : text.config.setBy(variable);
  return gateway === null ? place : text.config.atGateway(place, gateway);
}
