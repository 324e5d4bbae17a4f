import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Field } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import type { Option } from "../../state/filter-options.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { text } from "../../text/text.ts";
import {
  changeTarget,
  type GroupDefinition,
  type GroupTarget,
  moveTargetUp,
  sharesOf,
} from "./route-definition.ts";

/** Colours of the shares, which repeat. */
const COLORS = 6;
/** What part of the requests a new shadow copies. */
const NEW_SHARE = 0.05;

interface GroupProps {
  readonly definition: GroupDefinition;
  readonly onChange: (definition: GroupDefinition) => void;
  readonly options: readonly Option[];
  readonly isOfOperator: boolean;
  readonly errorOf: (field: string) => string | null;
}

/** The targets of a group with their weights, drawn as shares of the requests, in the order in which they are tried after a failure. */
export function GroupFields({ definition, onChange, options, isOfOperator, errorOf }: GroupProps) {
  const { targets, sticky = "session" } = definition;
  const set = (next: GroupTarget[]) => onChange({ ...definition, targets: next });
  const shares = sharesOf(targets);
  const error = errorOf("targets");
  return (
    <>
      <Shares targets={targets} shares={shares} />
      <ol class="targets" aria-label={text.routing.targets}>
        {targets.map((target, i) => (
          <li key={`${i} of ${targets.length}`} class="target">
            <Target
              target={target}
              index={i}
              share={shares[i] ?? 0}
              options={options}
              isOfOperator={isOfOperator}
              onChange={(change) => set(changeTarget(targets, i, change))}
              onMoveUp={() => set(moveTargetUp(targets, i))}
              onRemove={targets.length === 1 ? null : () => set(targets.filter((_, at) => at !== i))}
            />
          </li>
        ))}
      </ol>
      <div>
        <Button icon="plus" onClick={() => set([...targets, { model: "", weight: 0 }])}>
          {text.routing.addTarget}
        </Button>
      </div>
      <FieldError error={error} />
      <p class="quiet">{text.routing.orderAbout}</p>
      <div class="row wrap">
        <span class="field-label">{text.routing.sticky}</span>
        <Segments
          label={text.routing.sticky}
          value={sticky}
          choices={[
            { value: "session", label: text.routing.stickyBy.session },
            { value: "request", label: text.routing.stickyBy.request },
          ]}
          onChange={(chosen) => onChange({ ...definition, sticky: chosen })}
        />
      </div>
    </>
  );
}

/** Returns a share as people read it: "33.3 %". */
function printShare(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** The shares of all targets as one bar. */
function Shares({ targets, shares }: { targets: readonly GroupTarget[]; shares: readonly number[] }) {
  const summary = targets.map(({ model }, i) => `${model} ${printShare(shares[i] ?? 0)}`).join(", ");
  return (
    <div class="shares" role="img" aria-label={text.routing.sharesOf(summary)}>
      {shares.map((share, i) =>
        share === 0 ? null : (
          <span
            key={`${i} of ${shares.length}`}
            class={`series-${(i % COLORS) + 1}`}
            style={{ flexGrow: share }}
            title={`${targets[i]?.model} ${printShare(share)}`}
          />
        ),
      )}
    </div>
  );
}

function Target(props: {
  target: GroupTarget;
  index: number;
  share: number;
  options: readonly Option[];
  isOfOperator: boolean;
  onChange: (change: Partial<GroupTarget>) => void;
  onMoveUp: () => void;
  onRemove: (() => void) | null;
}) {
  const { target, index, share, options, onChange } = props;
  const number = index + 1;
  return (
    <>
      <span class={`target-mark series-${(index % COLORS) + 1}`} aria-hidden="true" />
      <Combobox
        label={text.routing.targetNumber(number)}
        hidesLabel
        value={target.model || null}
        options={options}
        onOpen={() => loadOptions("models")}
        onChange={(model) => onChange({ model: model ?? "" })}
        allowsOther
      />
      <Field
        label={text.routing.weightOf(number)}
        hidesLabel
        inputMode="numeric"
        value={String(target.weight)}
        onInput={(typed) => onChange({ weight: readWeight(typed) })}
      />
      <span class="target-share">{target.weight === 0 ? text.routing.fallbackOnly : printShare(share)}</span>
      <div class="row target-buttons">
        <Button
          kind="bare"
          size="small"
          icon="up"
          label={text.routing.moveTarget(number)}
          isDisabled={index === 0}
          onClick={props.onMoveUp}
        />
        {props.isOfOperator ? (
          <Button
            kind="bare"
            size="small"
            icon="copy"
            label={text.routing.shadowLabel(number, target.shadow !== undefined)}
            isPressed={target.shadow !== undefined}
            onClick={() =>
              onChange({ shadow: target.shadow === undefined ? { model: "", share: NEW_SHARE } : undefined })
            }
          />
        ) : null}
        <Button
          kind="bare"
          size="small"
          icon="plug"
          label={text.routing.pinLabel(number, target.provider !== undefined)}
          isPressed={target.provider !== undefined}
          onClick={() => onChange({ provider: target.provider === undefined ? "" : undefined })}
        />
        <Button
          kind="bare"
          size="small"
          icon="trash"
          label={text.routing.removeTarget(number)}
          isDisabled={props.onRemove === null}
          onClick={() => props.onRemove?.()}
        />
      </div>
      {target.provider === undefined ? null : (
        <div class="shadow two">
          <span class="quiet">{text.routing.onlyFrom}</span>
          <Combobox
            label={text.routing.providerOf(number)}
            hidesLabel
            value={target.provider || null}
            options={optionsOf("providers")}
            onOpen={() => loadOptions("providers")}
            onChange={(provider) => onChange({ provider: provider ?? undefined })}
            allowsOther
          />
        </div>
      )}
      {target.shadow === undefined ? null : <Shadow {...props} shadow={target.shadow} number={number} />}
    </>
  );
}

/** The model that gets copies of the requests of a target, and of how many of them. */
function Shadow(props: {
  shadow: NonNullable<GroupTarget["shadow"]>;
  number: number;
  options: readonly Option[];
  onChange: (change: Partial<GroupTarget>) => void;
}) {
  const { shadow, number, options, onChange } = props;
  return (
    <div class="shadow">
      <span class="quiet">{text.routing.copies}</span>
      <Field
        label={text.routing.shadowShare(number)}
        hidesLabel
        inputMode="decimal"
        value={String(Number((shadow.share * 100).toFixed(4)))}
        onInput={(typed) => onChange({ shadow: { ...shadow, share: Number(typed) / 100 || 0 } })}
      />
      <span class="quiet">{text.routing.copiesTo}</span>
      <Combobox
        label={text.routing.shadowModel(number)}
        hidesLabel
        value={shadow.model || null}
        options={options}
        onOpen={() => loadOptions("models")}
        onChange={(model) => onChange({ shadow: { ...shadow, model: model ?? "" } })}
        allowsOther
      />
    </div>
  );
}

function readWeight(typed: string): number {
  const weight = Number(typed.trim());
  return Number.isFinite(weight) && weight >= 0 ? Math.floor(weight) : 0;
}
