import { Combobox } from "../../parts/controls/combobox.tsx";
import { Check, Field } from "../../parts/controls/field.tsx";
import type { Option } from "../../state/filter-options.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { text } from "../../text/text.ts";
import { GroupFields } from "./group-fields.tsx";
import { PresetFields } from "./preset-fields.tsx";
import { type AliasDefinition, type RouteDefinition, withoutUndefined } from "./route-definition.ts";

interface RouteFieldsProps {
  readonly definition: RouteDefinition;
  readonly onChange: (definition: RouteDefinition) => void;
  /** What a route may lead to: models, tiers and other routes. */
  readonly options: readonly Option[];
  /** Whether the route belongs to the operator, who may send copies of requests and replace models. */
  readonly isOfOperator: boolean;
  readonly errorOf: (field: string) => string | null;
}

/** The fields of a named route of any kind. */
export function RouteFields({ definition, onChange, options, isOfOperator, errorOf }: RouteFieldsProps) {
  const common = { onChange, options, isOfOperator, errorOf };
  return (
    <>
      {definition.kind === "alias" ? (
        <AliasFields definition={definition} {...common} />
      ) : definition.kind === "group" ? (
        <GroupFields definition={definition} {...common} />
      ) : (
        <PresetFields definition={definition} {...common} />
      )}
      <Field
        label={text.routing.description}
        hint={text.routing.descriptionHint}
        value={definition.description ?? ""}
        onInput={(typed) =>
          onChange(withoutUndefined({ ...definition, description: typed === "" ? undefined : typed }))
        }
      />
      {isOfOperator && definition.kind !== "preset" ? (
        <Check
          label={text.routing.replacesModel}
          isChecked={definition.replaces_model === true}
          onChange={(isChecked) =>
            onChange(withoutUndefined({ ...definition, replaces_model: isChecked ? true : undefined }))
          }
        />
      ) : null}
    </>
  );
}

function AliasFields({
  definition,
  onChange,
  options,
  errorOf,
}: Omit<RouteFieldsProps, "definition"> & { readonly definition: AliasDefinition }) {
  return (
    <>
      <Combobox
        label={text.routing.target}
        hint={text.routing.targetHint}
        error={errorOf("target")}
        value={definition.target || null}
        options={options}
        onOpen={() => loadOptions("models")}
        onChange={(target) => onChange({ ...definition, target: target ?? "" })}
        allowsOther
      />
      <Combobox
        label={text.routing.aliasProvider}
        hint={text.routing.aliasProviderHint}
        error={errorOf("provider")}
        value={definition.provider ?? null}
        options={optionsOf("providers")}
        onOpen={() => loadOptions("providers")}
        onChange={(provider) =>
          onChange(withoutUndefined({ ...definition, provider: provider ?? undefined }))
        }
        allowsOther
      />
    </>
  );
}
