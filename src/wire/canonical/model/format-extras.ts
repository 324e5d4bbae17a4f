import { type Fields, isEmpty } from "../../../base/json/fields.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { Extras } from "./parts.ts";

/** A request, message, part or answer that may carry what only one format knows. */
interface HasExtras {
  readonly extras?: Extras;
}

/** Writes and reads the `Extras` of one format. What another format wrote is invisible to it. */
interface FormatExtras {
  /** Returns the extras as a member to spread; nothing where there are neither fields nor spellings. */
  keepExtras(fields: Fields, spelling?: Fields): HasExtras;
  /** Returns a copy of the thing with extras, or the thing itself if there is nothing to keep. */
  withExtras<T extends HasExtras>(thing: T, fields: Fields, spelling?: Fields): T;
  /** Whether this format wrote the thing's extras. */
  isOwn(thing: HasExtras): boolean;
  /** Returns the unknown fields that this format kept on the thing; none where another format did. */
  keptFields(thing: HasExtras): Fields;
  /** Returns the spellings that this format kept on the thing; none where another format did. */
  keptSpelling(thing: HasExtras): Fields;
}

const NONE: Fields = {};
const NO_EXTRAS: HasExtras = {};

/** Returns the functions that read and write the extras of a format. */
export function createFormatExtras(format: ProviderFormat): FormatExtras {
  const keepExtras = (fields: Fields, spelling: Fields = NONE): HasExtras => {
    if (!isEmpty(spelling)) return { extras: { format, fields, spelling } };
    return isEmpty(fields) ? NO_EXTRAS : { extras: { format, fields } };
  };
  const isOwn = ({ extras }: HasExtras): boolean => extras?.format === format;
  return {
    keepExtras,
    withExtras(thing, fields, spelling) {
      const kept = keepExtras(fields, spelling);
      return kept === NO_EXTRAS ? thing : { ...thing, ...kept };
    },
    isOwn,
    keptFields: (thing) => (isOwn(thing) ? (thing.extras as Extras).fields : NONE),
    keptSpelling: (thing) => (isOwn(thing) ? (thing.extras?.spelling ?? NONE) : NONE),
  };
}
