import { useState } from "preact/hooks";
import { EFFORTS, TOOL_CHOICES, type ToolChoice } from "../../conversation/conversation.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Field, Select, TextArea } from "../../parts/controls/field.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { ModelOption } from "./model-options.ts";
import {
  changeSettings,
  echoesTools,
  isRunning,
  lanes,
  MAX_LANES,
  payer,
  setModels,
  settings,
} from "./state.ts";
import { ToolList } from "./tools.tsx";

const words = text.playground;
const EFFORT_CHOICES = [
  { value: "", label: words.modelDefault },
  ...EFFORTS.map((effort) => ({ value: effort, label: effort })),
];
const CHOICE_CHOICES = TOOL_CHOICES.map((value) => ({ value, label: words.toolChoices[value] }));
const ANSWER_CHOICES = [
  { value: "hand", label: words.answers.hand },
  { value: "echo", label: words.answers.echo },
] as const;

/** The column with models, system text, parameters and tools. */
export function SettingsPane({ options }: { options: readonly ModelOption[] }) {
  const { system, tools, effort } = settings.value;
  return (
    <div class="pane-body">
      <Models options={options} />
      {isOperator.value ? <Payer /> : null}
      <TextArea
        label={words.system}
        rows={4}
        placeholder={words.systemHint}
        value={system}
        onInput={(value) => changeSettings({ system: value })}
      />
      <section class="column">
        <h2>{words.parameters}</h2>
        <Numbers />
        <Select
          label={words.effort}
          value={effort}
          choices={EFFORT_CHOICES}
          onChange={(value) => changeSettings({ effort: value })}
        />
      </section>
      <section class="column">
        <h2>{words.tools}</h2>
        <ToolList />
        {tools.length === 0 ? null : <ToolSettings />}
      </section>
    </div>
  );
}

/** The account whose credits, limits and policy apply. Others than the operator always use their own. */
function Payer() {
  return (
    <section class="column">
      <AccountPicker
        label={words.payer}
        showsLabel
        value={payer.value}
        onChange={(id) => {
          payer.value = id;
        }}
      />
      <p class="field-hint">{words.payerHint}</p>
    </section>
  );
}

function ToolSettings() {
  return (
    <>
      <Select
        label={words.toolChoice}
        value={settings.value.toolChoice}
        choices={CHOICE_CHOICES}
        onChange={(value) => changeSettings({ toolChoice: value as ToolChoice })}
      />
      <div class="field">
        <span class="field-label">{words.answerCalls}</span>
        <Segments
          label={words.answerCalls}
          value={echoesTools.value ? "echo" : "hand"}
          choices={ANSWER_CHOICES}
          onChange={(value) => {
            echoesTools.value = value === "echo";
          }}
        />
        <span class="field-hint">{words.echoAbout}</span>
      </div>
    </>
  );
}

function Models({ options }: { options: readonly ModelOption[] }) {
  const models = lanes.value.map(({ model }) => model);
  const change = (at: number, model: string | null) =>
    setModels(model === null ? models.filter((_, i) => i !== at) : models.with(at, model));
  return (
    <section class="column">
      {lanes.value.map(({ id, model }, i) => (
        <Combobox
          key={id}
          label={words.model(i + 1)}
          value={model}
          options={options}
          allowsOther
          onChange={(value) => change(i, value)}
        />
      ))}
      {models.length >= MAX_LANES || isRunning.value ? null : (
        <Combobox
          key={`more ${models.length}`}
          hidesLabel
          label={words.compareWith}
          value={null}
          options={options.filter(({ value }) => !models.includes(value))}
          allowsOther
          onChange={(value) => {
            if (value !== null && !models.includes(value)) setModels([...models, value]);
          }}
        />
      )}
    </section>
  );
}

const NUMBERS = [
  { name: "temperature", label: words.temperature },
  { name: "topP", label: words.topP },
  { name: "maxTokens", label: words.maxTokens },
] as const;

function Numbers() {
  return (
    <div class="number-fields">
      {NUMBERS.map(({ name, label }) => (
        <NumberField
          key={name}
          label={label}
          value={settings.value[name]}
          onChange={(value) => changeSettings({ [name]: value })}
        />
      ))}
    </div>
  );
}

/** A number, or nothing for the model's default. Bounds are the API's to say. */
function NumberField(props: {
  label: string;
  value: number | null;
  onChange: (value: number | null) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (props.value === null ? "" : String(props.value));
  const isWrong = shown !== "" && !Number.isFinite(Number(shown));
  return (
    <Field
      label={props.label}
      inputMode="decimal"
      placeholder={words.default}
      error={isWrong ? words.notANumber : null}
      value={shown}
      onInput={(value) => {
        const number = Number(value);
        setTyped(value);
        props.onChange(value.trim() === "" || !Number.isFinite(number) ? null : number);
      }}
    />
  );
}
