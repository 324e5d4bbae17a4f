import { type Command, Option } from "commander";
import { systemClock } from "../../base/time/clock.ts";
import type { Endpoint } from "../../http/api/endpoint.ts";
import { type GatewayOptions, withGateway } from "../callers/ask-gateway.ts";
import { type Caller, type CommandAnswer, type EndpointInput, listRows } from "../callers/caller.ts";
import { readUrl } from "../callers/gateway-url.ts";
import { withStoresCaller } from "../callers/stores-caller.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { tell } from "../render/print.ts";
import type { AnyCommandSpec, ArgumentSpec, CommandRun, InputSpec, OptionSpec } from "./command-spec.ts";
import { deriveOptions, hasPages, shapeOf } from "./derive-options.ts";
import { explainProblem } from "./explain-problem.ts";
import { addFieldOptions, readFieldOptions } from "./field-options.ts";
import { addExamples, addJsonOption, readLimit } from "./read-options.ts";
import { type Named, resolveName } from "./resolve-name.ts";

/** Declares commands that render endpoints as subcommands of a group. */
export function declareCommands(group: Command, specs: readonly AnyCommandSpec[]): void {
  for (const spec of specs) {
    const command = group.command(spec.name).description(spec.description ?? spec.endpoint.summary);
    declareCommand(command, spec);
  }
}

/** Declares the arguments, options and action of a command that renders an endpoint. */
export function declareCommand(command: Command, spec: AnyCommandSpec): void {
  const { args = [], settings, rows, examples, endpoint } = spec;
  rendered.set(command, endpoint);
  for (const { name, help, read = String } of args)
    command.argument(name, help, ...(name.includes("...") ? [] : [read]));
  const options = [...(spec.options ?? []), ...(spec.derives === false ? [] : deriveOptions(spec))];
  addOptions(command, options);
  if (settings !== undefined) addFieldOptions(command, settings.of, settings.use);
  if (rows !== undefined) command.option("--limit <number>", "Maximum number of rows", readLimit, rows);
  if (examples !== undefined) addExamples(command, examples);
  addGatewayOptions(command, endpoint.needs === "gateway");
  addJsonOption(command).action(() => run(command, { ...spec, options }));
}

const rendered = new WeakMap<Command, Endpoint>();

/** Returns the endpoint that a command renders; undefined for one with code of its own. */
export function endpointOf(command: Command): Endpoint | undefined {
  return rendered.get(command);
}

/** Adds options to a command. */
export function addOptions(command: Command, options: readonly OptionSpec[]): void {
  for (const one of options) command.addOption(createOption(one));
}

function createOption({ flags, help, read, choices, initial, isRequired, conflicts }: OptionSpec): Option {
  const option = new Option(flags, help);
  if (choices !== undefined) option.choices(choices);
  if (read !== undefined) option.argParser(read);
  if (initial !== undefined) option.default(initial);
  if (conflicts !== undefined) option.conflicts(conflicts);
  return isRequired === true ? option.makeOptionMandatory() : option;
}

/**
 * Adds `--url`, and `--key` for commands that always call a gateway. The others read the key from GATEWAY_KEY, because their `--key` may be
 * a filter.
 */
function addGatewayOptions(command: Command, needsGateway: boolean): void {
  if (!needsGateway) {
    command.option(
      "--url <url>",
      "Send the command to the gateway at this address, instead of using the stores",
      readUrl,
    );
    return;
  }
  command
    .option("--url <url>", "Address of the running gateway (default: the configured host and port)", readUrl)
    .option(
      "--key <key>",
      "Management key of the operator (default: GATEWAY_KEY, or a sign-in with a one-time code in the configured stores)",
    );
}

function run(command: Command, spec: AnyCommandSpec): Promise<void> {
  // An option that the parent command has too is the parent's, wherever it is written.
  const options = command.optsWithGlobals<Record<string, unknown>>();
  const work = (caller: Caller) =>
    perform(spec, { caller, args: command.processedArgs as readonly unknown[], options }).catch((error) =>
      explainProblem(spec, error),
    );
  const needsGateway = spec.endpoint.needs === "gateway";
  const { url, key } = options as GatewayOptions;
  if (needsGateway || url !== undefined) return withGateway({ url, ...(needsGateway ? { key } : {}) }, work);
  return withStoresCaller(nameCommand(command), work);
}

/** Returns the words of a command, as the audit log has them: `gateway keys create`. */
function nameCommand(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${nameCommand(parent)} ${command.name()}`;
}

type Given = Pick<CommandRun, "caller" | "args" | "options">;

async function perform(spec: AnyCommandSpec, given: Given): Promise<string> {
  const { input, named } = await readInput(spec, given);
  const before = { ...given, named };
  const completed = { ...input, ...(await spec.complete?.(input, before)) };
  const { status, body, warning } = await ask(spec, completed, before);
  if (warning !== undefined) tell(warning);
  const ran: CommandRun = { ...before, status };
  if (spec.hasFailed?.(body) === true) process.exitCode = EXIT_CODES.failed;
  if (given.options["json"] !== true) {
    const { database } = given.caller;
    if (spec.namesDatabase === true && database !== null) tell(`Database: ${database}`);
    return spec.show(body, ran);
  }
  return JSON.stringify(spec.json === undefined ? body : spec.json(body, ran));
}

async function ask(
  { endpoint, call, rows, timeoutMs }: AnyCommandSpec,
  input: EndpointInput,
  before: Omit<CommandRun, "status">,
): Promise<CommandAnswer> {
  const { caller, options } = before;
  if (call !== undefined) return { status: 200, body: await call(input, before) };
  const limit = rows === undefined ? undefined : (options["limit"] as number);
  if (hasPages(endpoint)) {
    const list = { ...input, ...(limit === undefined ? {} : { limit }) };
    return { status: 200, body: { data: await listRows(caller, endpoint, list) } };
  }
  const answer = await caller.call(endpoint, input, timeoutMs);
  if (limit === undefined) return answer;
  const { data } = answer.body as { readonly data: readonly unknown[] };
  return { ...answer, body: { data: data.slice(0, limit) } };
}

type Place = keyof EndpointInput;

/** Where the field of an argument, or of an option, is looked for. */
const PLACES: Readonly<Record<"argument" | "option", readonly Place[]>> = {
  argument: ["params", "body", "query"],
  option: ["body", "query"],
};

/**
 * Returns the input of an endpoint from arguments and options, and the resources that they name.
 * @throws Error for a name of no resource, or of several.
 */
export async function readInput(
  { endpoint, args = [], options = [], settings, fixed = {} }: InputSpec,
  given: Given,
) {
  const input = { params: {}, query: {}, body: {} } as Record<Place, Record<string, unknown>>;
  const named: Record<string, Named> = {};
  const put = (kind: keyof typeof PLACES, field: string, value: unknown): void => {
    const [name = field, place = placeOf(endpoint, kind, field)] = field.split(".").toReversed();
    input[place as Place][name] = value;
  };
  const take = async (
    kind: keyof typeof PLACES,
    spec: ArgumentSpec | OptionSpec,
    key: string,
    value: unknown,
  ) => {
    if (value === undefined || spec.field === null) return;
    if (spec.named === undefined) return put(kind, spec.field, value);
    const found = await resolveName(spec.named(given.caller, given), String(value));
    named[key] = found;
    put(kind, spec.field, found.id);
  };
  // Before names are looked up: a value that is not valid is reported first.
  if (settings !== undefined)
    Object.assign(input.body, readFieldOptions(settings.of, given.options, systemClock.now()));
  for (const [at, spec] of args.entries())
    await take("argument", spec, spec.name.replace(/[^\w-]/g, ""), given.args[at]);
  for (const spec of options) {
    const key = new Option(spec.flags).attributeName();
    await take("option", spec, key, given.options[key]);
  }
  for (const [field, value] of Object.entries(fixed)) if (value !== undefined) put("option", field, value);
  return { input: input as EndpointInput, named };
}

function placeOf(endpoint: Endpoint, kind: keyof typeof PLACES, field: string): Place {
  return PLACES[kind].find((place) => field in shapeOf(endpoint[place])) ?? "body";
}
