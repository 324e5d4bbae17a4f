import type { BlankTexts } from "../blank-texts.ts";
import type { ToolCallRules } from "../calls/outline.ts";
import type { ParameterRule } from "../parameter-rules.ts";
import type { FormatCharges } from "./charge-rules.ts";
import type { ProviderFormat } from "./format-name.ts";
import type { SamplingParameter } from "./sampling-parameters.ts";

/**
 * What sets a format apart from the others. Each format declares its traits in its folder, and `wire/formats` lists them. Code outside the
 * folder asks for a trait and never for a name.
 */
export interface FormatTraits {
  readonly name: ProviderFormat;
  /** The media type of its streamed answers. */
  readonly streamType: string;
  readonly tools: ToolTraits;
  readonly contents: ContentTraits;
  readonly turns: TurnTraits;
  readonly parameters: ParameterTraits;
  /** How prompts are marked for the vendor's cache: `blocks` of any turn, or `breakpoints` of some models. Null: they are not. */
  readonly cacheMarks: "blocks" | "breakpoints" | null;
  /** Fields by which a request asks the vendor to store data; they are left out under zero data retention. */
  readonly storingFields: readonly string[];
  readonly charges: FormatCharges;
}

/** How a format treats tools and their calls. */
interface ToolTraits {
  /** The rules of calls and results. `ids` is absent if hosts differ. */
  readonly calls: Omit<ToolCallRules, "ids"> & Partial<Pick<ToolCallRules, "ids">>;
  /** Some hosts have tools of type `custom`, whose input is free text. */
  readonly hasCustomTools?: true;
  /** Some hosts have namespaces of tools. */
  readonly hasNamespaces?: true;
  /** The longest name of a tool, for formats that restrict only the length. In characters; null: names must also be identifiers. */
  readonly maxNameChars: number | null;
  /** What a model may write before the name of a function that it calls. Absent: nothing. */
  readonly calledPrefixes?: readonly string[];
}

/** What the contents of messages may hold. */
interface ContentTraits {
  /** Messages name their participants. */
  readonly takesNames?: true;
  /** Files have no names. */
  readonly losesFileNames?: true;
  /** Images have a detail. */
  readonly takesDetail?: true;
  /** Contents may hold reasoning of any model, or the encoder reports itself what it leaves out. */
  readonly takesReasoning?: true;
  /** It has no place for encrypted reasoning, except at hosts that take `reasoning_details`. */
  readonly losesEncryptedReasoning?: true;
  /** The vendor signs texts and wants the signatures back. */
  readonly signsTexts?: true;
  /** Which images assistant messages may hold: `all`, or those that a client `sent` in this format. Absent: none. */
  readonly assistantImages?: "all" | "sent";
  /** Which texts without a word all of its models reject. Absent: none. */
  readonly blankTexts?: BlankTexts;
  /** Parts that only this format has hold what the model says. Absent: they are calls of the vendor's tools and their results. */
  readonly nativePartsSpeak?: true;
}

/** What the turns of a conversation mean that a client sends in this format. */
interface TurnTraits {
  /** System messages may stand among the turns. */
  readonly hasMidSystem?: true;
  /** Thinking is signed by the vendor that made it. */
  readonly signsThinking?: true;
  /** A last message of the assistant is the beginning of the answer. */
  readonly continuesLast?: true;
}

/** Which parameters a format has, and where. */
interface ParameterTraits {
  readonly containers: readonly ParameterContainer[];
  /** The sampling parameters that have a field (docs/fidelity.md). */
  readonly sampling: readonly SamplingParameter[];
  /** There is no field for `top_k`. */
  readonly lacksTopK?: true;
  /** Hosts add fields to the format, so that any other parameter may have one too. */
  readonly hasHostFields?: true;
  /** What all hosts take of some parameters, unless their rows say otherwise. Absent: everything. */
  readonly taken?: Readonly<Record<string, ParameterRule>>;
  /** The reasoning efforts for which there are words. Absent: all. */
  readonly efforts?: readonly string[];
}

/** Where a format has parameters: in a member of the body or, without a name, in the body itself. */
export interface ParameterContainer {
  readonly member: string | null;
  /** Names of the chat API by the format's own. Others are the same in both, and of no other container. */
  readonly names: Readonly<Record<string, string>>;
  /** A parameter that is on where a list of the body has an entry. Absent: there is none. */
  readonly entry?: ListEntry;
}

/** An entry of a list of the body that switches a parameter on. */
interface ListEntry {
  readonly parameter: string;
  /** The list's name. */
  readonly field: string;
  readonly entry: string;
}

/** The container of formats that have parameters in the body, under the names of the chat API. */
export const SAME_NAMES: readonly ParameterContainer[] = [{ member: null, names: {} }];
