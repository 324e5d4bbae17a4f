import type { z } from "zod";
import type { SettableFields } from "../../core/accounts/fields/resource-fields.ts";
import type { Endpoint } from "../../http/api/endpoint.ts";
import type { Caller, EndpointInput } from "../callers/caller.ts";
import type { Named, NameSource } from "./resolve-name.ts";

/** A value for a command, and the field of the endpoint that it sets. */
interface Given {
  readonly help: string;
  /**
   * The field: of the path for arguments, otherwise of the body, otherwise of the query. `params.id` names the place explicitly. Null: only
   * the command itself reads the value.
   */
  readonly field: string | null;
  /** The source for looking up the resource that the value names. The field gets its id. */
  readonly named?: (caller: Caller, run: Pick<CommandRun, "options">) => NameSource;
  /** Parses the text of the value. @throws InvalidArgumentError */
  readonly read?: (text: string) => unknown;
}

/** An argument of a command. */
export interface ArgumentSpec extends Given {
  /** As the help shows it: `<account>`, or `[ids...]` for any number. */
  readonly name: string;
}

/** An option of a command that is not derived from a field of the endpoint, or has another name. */
export interface OptionSpec extends Given {
  /** The flag and the placeholder of its value: `--limit <dollars>`. */
  readonly flags: string;
  readonly isRequired?: true;
  readonly choices?: readonly string[];
  readonly initial?: unknown;
  /** The option that cannot be combined with this one. */
  readonly conflicts?: string;
}

/** A run of a command. */
export interface CommandRun {
  readonly caller: Caller;
  /** The parsed arguments in their order. */
  readonly args: readonly unknown[];
  /** The options by commander's names. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The resources that arguments and options have named, by the names of these: `account`. */
  readonly named: Readonly<Record<string, Named>>;
  /** The status of the answer; 200 for a list. */
  readonly status: number;
}

/** The answer of an endpoint. */
export type AnswerOf<E extends Endpoint> = z.infer<E["response"]>;

/**
 * A command that renders an endpoint. Its options derive from the fields of the query and the body; what is declared here are names,
 * examples and how the answer looks.
 */
interface CommandSpec<E extends Endpoint = Endpoint> {
  readonly name: string;
  /** Default: the summary of the endpoint. */
  readonly description?: string;
  readonly endpoint: E;
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Fields of the body that declare their options themselves. */
  readonly settings?: { readonly of: SettableFields; readonly use: "new" | "change" };
  /** Values of fields that have no option. Undefined leaves a field out. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** False for a command without options of its own: the fields of the endpoint have none. */
  readonly derives?: false;
  /** How many rows the list shows without `--limit`. Absent: all rows. */
  readonly rows?: number;
  readonly examples?: readonly string[];
  /** The longest wait for the answer of a gateway. Milliseconds. */
  readonly timeoutMs?: number;
  /** Whether the command prints on standard error which database it has checked. */
  readonly namesDatabase?: true;
  /** Completes the input that the arguments and options make. */
  readonly complete?: (
    input: EndpointInput,
    run: Omit<CommandRun, "status">,
  ) => Promise<Partial<EndpointInput>>;
  /** Replaces the call of the endpoint, for a command that makes several. */
  readonly call?: (input: EndpointInput, run: Omit<CommandRun, "status">) => Promise<AnswerOf<E>>;
  /** Formats the answer for people. */
  readonly show: (answer: AnswerOf<E>, run: CommandRun) => string | Promise<string>;
  /** Returns what `--json` prints. Default: the answer; of a list its rows. */
  readonly json?: (answer: AnswerOf<E>, run: CommandRun) => unknown;
  /** Returns whether the command exits with 1, although the endpoint has answered. */
  readonly hasFailed?: (answer: AnswerOf<E>) => boolean;
}

/** The part of a command that maps its values to an input. */
export type InputSpec = Pick<CommandSpec, "endpoint" | "args" | "options" | "settings" | "fixed" | "rows">;

/** A command as `declareCommand` reads it. */
export type AnyCommandSpec = Omit<CommandSpec, "call" | "show" | "json" | "hasFailed"> & {
  readonly call?: (input: EndpointInput, run: Omit<CommandRun, "status">) => Promise<unknown>;
  show(answer: unknown, run: CommandRun): string | Promise<string>;
  json?(answer: unknown, run: CommandRun): unknown;
  hasFailed?(answer: unknown): boolean;
};

/** Returns the command unchanged. Exists so that TypeScript infers the type of the answer from the endpoint. */
export function defineCommand<E extends Endpoint>(spec: CommandSpec<E>): AnyCommandSpec {
  return spec as unknown as AnyCommandSpec;
}
