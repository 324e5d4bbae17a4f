import { loadOptions, type NameList, optionsOf } from "../../state/names.ts";
import type { FilterField } from "./filter-fields.ts";

/** Returns a field whose values are suggested from a list of names, and whose parameter has the field's id. */
export function namedField(id: string, label: string, list: NameList): FilterField {
  return {
    id,
    label,
    parameters: { is: id },
    options: () => optionsOf(list),
    load: () => loadOptions(list),
  };
}
