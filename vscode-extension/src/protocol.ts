// What client and server say to each other beyond the Language Server Protocol.
// Written from server/kernel-scientist/src/lsp/protocol.rs by its tests; changes go there.

/** Methods, by what they are for. */
export const Methods = {
  population: "kernelScientist/population",
  runs: "kernelScientist/runs",
  version: "kernelScientist/version",
  kernels: "kernelScientist/kernels",
  status: "kernelScientist/status",
  plan: "kernelScientist/plan",
  propose: "kernelScientist/propose",
  preview: "kernelScientist/preview",
  machineCode: "kernelScientist/machineCode",
  proposed: "kernelScientist/proposed",
  key: "kernelScientist/key",
  runEvent: "kernelScientist/runEvent",
  model: "kernelScientist/model",
  modelPart: "kernelScientist/modelPart",
} as const;

/** Commands of the server, for `workspace/executeCommand`. */
export const Commands = {
  time: "kernelScientist.time",
  suggest: "kernelScientist.suggest",
  evolve: "kernelScientist.evolve",
  resume: "kernelScientist.resume",
  test: "kernelScientist.test",
  check: "kernelScientist.check",
  createBenchmark: "kernelScientist.createBenchmark",
  apply: "kernelScientist.apply",
  showDiff: "kernelScientist.showDiff",
  showJob: "kernelScientist.showJob",
  stop: "kernelScientist.stop",
  tryModel: "kernelScientist.tryModel",
} as const;

/** What a forecast rests on; kept and shown with each. */
export interface Basis {
  /** The device, as on the command line: `mi300x`. */
  device: string;
  /** Version of the model: that of its crate. */
  model: string;
  /** For a comparison: how often forecasts this far apart were in the right order. */
  odds?: Odds | null;
  /** Whether that is the device itself. */
  of_this_device: boolean;
  /** Version of the device's table: a hash of its text. */
  table: string;
  /** The device, as shown: `MI300X`. */
  title: string;
  /** The card that forecasts were compared with. */
  validated_on: string;
}

/** What a run may use up, over all its resumptions. */
export interface Budget {
  /** Calls of a provider at most. */
  calls?: number | null;
  /** Generations at most. */
  generations: number;
  /** Tokens to and from a provider at most. */
  tokens: number | null;
  /** Money for a provider at most, in US dollars. */
  usd: number | null;
  /** Time at work at most, the confirmation of the winner included; in JSON in seconds. */
  wall_s: number | null;
}

/** How well predicted gains agree with measured ones. */
export interface Calibration {
  /** Those whose measured gain lay above the range. */
  above: number;
  /** Those whose measured gain lay below the range: promised too much. */
  below: number;
  /** Experiments that failed and so could not be held against anything. */
  failed: number;
  /** Mean distance of the measured gain from the nearest end of the range, in percentage points; 0 inside. */
  mean_miss_percent: number;
  /** Predictions that could be held against a measurement. */
  measured: number;
  /** Those whose measured gain lay inside the predicted range. */
  within: number;
}

/** What a plan was chosen for. */
export type ChoiceRule = "most_innovative" | "highest_maximum" | "highest_minimum";

/** Fields of `initializationOptions` that say what a client can do; all others are settings. */
export interface ClientAbilities {
  /** It answers `kernelScientist/model`. */
  editorModels: boolean;
  /** It answers `kernelScientist/key`. */
  keys: boolean;
  /** It shows `kernelScientist/proposed` by itself; others get a message with the choices Apply and Show diff. */
  proposals: boolean;
  /**
   * Its user trusts the workspace, as is taken for granted where nothing is said. Of one that is not trusted texts are read and
   * shown, and nothing is built, run or sent.
   */
  trusted: boolean;
}

/** A device that can be chosen. */
export interface DeviceChoice {
  /** What its times are. */
  detail: string;
  /** Its name, for the setting `kernelScientist.device`. */
  name: string;
}

/** A message of the compiler, in the user's own file and lines. */
export interface Diagnostic {
  /** Column, from 1; 0 where the compiler named none. */
  column: number;
  /** File the message is about. */
  file: string;
  /** Line, from 1; 0 where the compiler named none. */
  line: number;
  /** The compiler's words. */
  message: string;
  /** What the compiler adds at other places of the user's files: where something is declared, who asked for it. */
  notes?: Note[];
  /** `error`, `fatal error` or `warning`. */
  severity: string;
}

export interface Duration {
  nanos: number;
  secs: number;
}

/** How a run ended. */
export type EndState = "completed" | "cancelled" | "paused" | "failed";

/**
 * An event of a run, `{"event":"started",...}` in JSON. Times are in seconds (`_s`) or nanoseconds (`_ns`).
 *
 * Each is sent after what it tells is in the notebook, but for those of models at work (`answering`, `waiting`), which are kept
 * nowhere. The first of the others is `started`, unless the run could not begin; the last is `finished`, exactly once, whatever ended the run. A run that is resumed does not repeat the events of what it finds recorded.
 */
export type Event = {
  /** What it may use up. */
  budget: Budget;
  /** The device. */
  device: string;
  event: "started";
  /** The user's file. */
  file: string;
  /** The one kernel to work on, if the user named one. */
  kernel: string | null;
  /** What stands behind the stages; `catalog` is rule-based. */
  provider: string;
  /** Whether it goes on from an earlier sitting. */
  resumed: boolean;
  /** Its number. */
  run: RunId;
  /** Seed of the run. */
  seed: number;
} | {
  /** What, such as `building 3 drafts`. */
  doing: string;
  event: "working";
  /** Generation, from 1; 0 before the first and after the last. */
  generation: number;
} | {
  /** How many answers of this stage are under way. */
  answers: number;
  /** Characters of them that have come so far. */
  characters: number;
  event: "answering";
  /** What they are asked for: `selector`, `designer`, `writer` or `repair`. */
  stage: string;
} | {
  event: "waiting";
  /** What happened. */
  reason: string;
  /** What it was asked for. */
  stage: string;
  /** Time until it is asked again. */
  wait_s: number;
} | {
  /** Speed against the original, over all steps since; not yet confirmed. */
  against_original: SpeedRatio | null;
  /** Speed against its parent. */
  against_parent: SpeedRatio | null;
  /** Its number; 0 is the original. */
  candidate: number;
  event: "candidate";
  /** Why it has no time. */
  failure: Failure | null;
  /** Generation it was made in. */
  generation: number;
  /** The version it was made from. */
  parent: number | null;
  /** The second parent. */
  reference: number | null;
  /** Keys of the hypotheses applied since the original, oldest first. */
  steps: string[];
  /** What was tried and what came of it. */
  summary: string;
  /** Median time of each shape that stages may see. */
  times: ShapeTime[];
  /** Verdict against its parent. */
  verdict: Verdict | null;
} | {
  /** Fastest version so far; 0 is the original. */
  best: number;
  /** Upper end of that speed's interval. */
  best_high: number;
  /** Lower end of that speed's interval. */
  best_low: number;
  /** Its speed against the original, not yet confirmed. */
  best_ratio: number;
  /** Time until the end, if the coming generations take as long as those before; absent in the first. */
  estimate_s: number | null;
  event: "generation";
  /** Its number, from 1. */
  generation: number;
  /** Generations the budget allows. */
  of: number;
  /** Time that the budget leaves; absent without a limit. */
  remaining_s: number | null;
  /** Time at work so far, over all sittings. */
  spent_s: number;
  /** Tokens spent so far. */
  spent_tokens: number;
  /** Money spent so far, in US dollars. */
  spent_usd: number;
} | {
  /** What the experiments start from. */
  base: number;
  event: "selected";
  /** Generation. */
  generation: number;
  /** Why. */
  reason: string;
  /** The second parent. */
  reference: number;
} | {
  /** Directions considered. */
  avenues: string[];
  /** What the experiments start from: another version than selected where nothing was left to try on that. */
  base: number;
  event: "designed";
  /** Generation. */
  generation: number;
  /** Plans worked out. */
  plans: PlannedExperiment[];
  /** Why the designer's answer could not be used, if it could not. */
  problem: string | null;
} | ({
  outcome: "measured";
  /** Speed against its base; against the original for the kinds `direct` and `confirmation`. */
  speed: SpeedRatio;
  /** What the interval says. */
  verdict: Verdict;
} | {
  /** What it rests on. */
  forecast: Basis;
  outcome: "forecast";
  /** As for `measured`, of forecast times. */
  speed: SpeedRatio;
  /** Whether the forecasts are far enough apart. */
  verdict: Verdict;
} | {
  /** How. */
  failure: Failure;
  outcome: "failed";
} | {
  /** What it equals, such as `candidate 3`. In JSON `duplicate_of`: `of` is the number of drafts. */
  duplicate_of: string;
  outcome: "duplicate";
} | {
  outcome: "not_written";
  /** Why. */
  reason: string;
}) & {
  /** Which draft of the plan, from 1. */
  draft: number;
  event: "experiment";
  /** Generation; 0 after the last. */
  generation: number;
  /** The hypothesis' key. */
  key: string;
  /** What it was made for. */
  kind: ExperimentKind;
  /** How many drafts the plan has. */
  of: number;
  /** What was done, and what could not be done, in the writer's words. */
  report: string;
  /** For a search over constants: the values of this draft. */
  settings?: Setting[];
  /** The hypothesis in one line. */
  title: string;
  /** How long it took. */
  took_s: number;
} | {
  /** The family of the hypothesis. */
  about: string;
  /** How well this run's predictions agree with its measurements so far. */
  calibration: Calibration;
  event: "finding";
  /** What was forecast, in percent of speed, on a device that is forecast for. */
  forecast_percent?: number | null;
  /** Generation. */
  generation: number;
  /** What was measured, in percent of speed; absent when it failed, or was forecast. */
  measured_percent: number | null;
  /** The prediction, in percent of speed. */
  predicted: GainRange;
  /** In words; for a search over constants with each value that was tried. */
  text: string;
  /** For a search over constants: each value that was tried, in the order of the drafts. */
  tried?: Tried[];
} | {
  /** The finalist. */
  candidate: number;
  /** Whether it was faster again: then it is the winner. */
  confirmed: boolean;
  event: "confirmed";
  /** Why it has no time. */
  failure: Failure | null;
  /** What the speed rests on where it is a forecast; absent where it was measured. */
  forecast?: Basis | null;
  /** Each shape. */
  shapes: ShapeSpeed[];
  /** Its speed against the original in this very measurement; absent when it failed. */
  speed: SpeedRatio | null;
  /** The verdict; absent when it failed. */
  verdict: Verdict | null;
} | {
  event: "paused";
  /** What is missing, and how to get it. */
  message: string;
} | Finished & {
  event: "finished";
};

/** One experiment: a hypothesis and what came of it. */
export interface Experiment {
  /** The version that it was compared with. */
  base: number;
  /** The version that it made, if any. */
  candidate: number | null;
  /** What went wrong, one line an entry. */
  errors: string[];
  /** The generation, from 1; 0 outside of generations. */
  generation: number;
  /** Whether there is a text, which `kernelScientist/version` gives. */
  has_text: boolean;
  /** Its number in the notebook. */
  id: number;
  /** How unusual the idea is, 0 to 100. */
  innovation: number | null;
  /** The speed is a forecast. */
  is_forecast: boolean;
  /** Whether the prediction is held against it: not so for searches and confirmations. */
  judges_prediction: boolean;
  /** The hypothesis' key. */
  key: string;
  /** What it was made for. */
  kind: ExperimentKind;
  /** How often forecasts this far apart were in the right order; of forecasts alone. */
  odds: Odds | null;
  /** The same in words, such as `faster` or `does not compile`. */
  outcome: string;
  /** Expected gain in percent of speed. */
  predicted: GainRange | null;
  /** Why it should help. */
  reason: string;
  /** Whether it is a further draft of the plan before it. */
  repeats: boolean;
  /** The writer's report. */
  report: string;
  /** Where that is documented. */
  source: string;
  /** Speed against its base; against the original for the kinds `direct` and `confirmation`. */
  speed: SpeedRatio | null;
  /** How it stands. */
  standing: Standing;
  /** The hypothesis in one line. */
  title: string;
  /** Tokens for the same. */
  tokens: number;
  /** Seconds that building, checking and timing it took. */
  took_s: number;
  /** Dollars for writing and mending it, of a plan with several drafts with the first. */
  usd: number;
}

/** What an experiment was made for. */
export type ExperimentKind = "search" | "full" | "direct" | "confirmation";

/** Why code under test has no time. Every variant ends the run with exit status 1 at the command line. */
export type Failure = {
  /** The compiler's messages, errors first. */
  diagnostics: Diagnostic[];
  kind: "does_not_compile";
} | {
  /** Which output, which element, got and expected; or the failed self-check's last lines. */
  detail: string;
  kind: "wrong";
} | {
  /** Signal and what is known of the place. */
  detail: string;
  kind: "crashed";
} | {
  kind: "timed_out";
  /** The limit that was in force. */
  limit: Duration;
} | {
  /** What it tried. */
  detail: string;
  kind: "refused";
};

/** How a kernel is fed. */
export type FedBy = "benchmark_file" | "program" | "signature" | "nothing";

/** The kernels of a file: an element of the answer of `kernelScientist/kernels`, in the order of the question. */
export interface FileKernels {
  /** A benchmark file lies beside it. */
  has_benchmark: boolean;
  /** Its kernels, in order. */
  kernels: KernelFigure[];
  /** Why it could not be read, if it could not. */
  problem: string | null;
  /** The file. */
  uri: string;
}

/** The end of a run. */
export interface Finished {
  /** The winner's number in the population; 0, the original, when nothing is confirmed. */
  best: number;
  /** How well the run's predictions agree with its measurements. */
  calibration: Calibration;
  /** Versions in the population, the original not counted. */
  candidates: number;
  /** Whether `best` is a confirmed improvement. */
  confirmed: boolean;
  /** Drafts refused because they say the same as something tried before. */
  duplicates: number;
  /** Plans that were put to the test. */
  experiments: number;
  /** Plans whose code failed or could not be written. */
  failed: number;
  /** What `speedup` rests on where it is a forecast; absent where it was measured. */
  forecast?: Basis | null;
  /** Generations completed. */
  generations: number;
  /** Whether its budget ended it, so that it goes on with a larger one. */
  out_of_budget?: boolean;
  /** Why it ended and what that means, in sentences. Names the shapes on which the winner is slower. */
  reason: string;
  /** The run; absent when it could not even be recorded. */
  run: RunId | null;
  /** Each shape of the confirmation. */
  shapes: ShapeSpeed[];
  /**
   * Speed of `best` against the original as its confirmation measured it, never as the selection did: a winner is
   * picked for its luck too. 1 when nothing is confirmed, since `best` is then the original itself.
   */
  speedup: number;
  /** Upper end of the 99% interval of `speedup`. */
  speedup_high: number;
  /** Lower end of the 99% interval of `speedup`. */
  speedup_low: number;
  /** Time at work, over all sittings. */
  spent_s: number;
  /** Tokens spent. */
  spent_tokens: number;
  /** Money spent, in US dollars. */
  spent_usd: number;
  /** How it ended. */
  state: EndState;
}

/** Expected uplift in percent of speed: 20 means 1.2x. May be negative at the low end. */
export interface GainRange {
  /** High end. */
  max_percent: number;
  /** Low end. */
  min_percent: number;
}

/** A kernel and what is last known of its time. */
export interface KernelFigure {
  /** What its inlay hint says, such as `412 us ±0.4% · 1.82x vs original · MI300X`; absent where nothing is known. */
  figure: string | null;
  /** The figure is that of the code as it is. */
  is_current: boolean;
  /** The figure is a forecast, not a measurement. */
  is_forecast: boolean;
  /** The line that its name is on, from 0. */
  line: number;
  /** Its name, as written. */
  name: string;
}

/** Parameters of `kernelScientist/kernels`. */
export interface KernelsParams {
  /** The files; they need not be open. */
  uris: string[];
}

/** The answer of `kernelScientist/key`. */
export interface KeyAnswer {
  /** The key, where the editor keeps one. */
  key: string | null;
}

/** Parameters of `kernelScientist/key`. */
export interface KeyParams {
  /** The provider, as users write it: `anthropic`. */
  provider: string;
}

/** The answer of `kernelScientist/machineCode`. */
export interface MachineCode {
  /** The processor: `gfx942`. */
  arch: string;
  /** The assembly of the file's device code. */
  text: string;
}

/** Parameters of `kernelScientist/machineCode`. */
export interface MachineCodeParams {
  /** The document, which is open. */
  uri: string;
}

/** One version. */
export interface Member {
  /** What the speed rests on where it is a forecast; absent where it was measured. */
  forecast?: Basis | null;
  /** The generation that it was made in; 0 for the original. */
  generation: number;
  /** The hypothesis behind the last step, in one line. */
  hypothesis: string | null;
  /** Its number. */
  number: number;
  /** The same in words, such as `faster` or `does not compile`. */
  outcome: string;
  /** The version that it was made from; absent for the original. */
  parent: number | null;
  /** Expected gain in percent of speed. */
  predicted: GainRange | null;
  /** The second parent. */
  reference: number | null;
  /** Speed against its parent. */
  speed: SpeedRatio | null;
  /** How it stands against its parent. */
  standing: Standing;
  /** Keys of the hypotheses from the original to here, oldest first. */
  steps: string[];
  /** What was tried and what came of it. */
  summary: string;
  /** The time at each shape that stages may see. */
  times: VersionTime[];
  /** What was changed, in one line. */
  title: string;
  /** What that says. */
  verdict: Verdict | null;
}

/** The answer of `kernelScientist/model`. */
export interface ModelAnswer {
  /** Identifier of the model that answered. */
  model: string;
  /** All of its text. */
  text: string;
  /** What it called the tool with, where one was asked for. */
  toolInput?: unknown;
}

/** Why an editor's model does not answer: the field `data` of the error. */
export interface ModelFailure {
  /** Which kind. */
  kind: ModelFailureKind;
}

/** Which kind of failure: in the words of VS Code's `LanguageModelError`, and what GitHub Copilot's errors are named after. */
export type ModelFailureKind = "NoPermissions" | "Blocked" | "NotFound" | "RateLimited" | "OutOfQuota" | "Other";

/** A message of a conversation. */
export interface ModelMessage {
  /** Who says it. */
  role: ModelRole;
  /** What. */
  text: string;
}

/** Parameters of `kernelScientist/model`. */
export interface ModelParams {
  /** A user's action led to this request, so that a question for consent may be asked. */
  isOfUser: boolean;
  /** Why it is asked, in words that the editor can show beside its question for consent. */
  justification: string;
  /** The conversation, oldest first. Editors know no system role: instructions are the first message of the user. */
  messages: ModelMessage[];
  /** The model that is wished for, by its identifier or family; absent for the editor's choice. */
  model?: string | null;
  /** Names this answer in `kernelScientist/modelPart`. */
  token: string;
  /** Where an answer must fit a schema: the one tool that the model is required to call. */
  tool?: ModelTool | null;
}

/** Parameters of `kernelScientist/modelPart`. */
export interface ModelPart {
  /** Text that is to be put behind the parts before. */
  text: string;
  /** The answer that it is a part of. */
  token: string;
}

/** Who says something. */
export type ModelRole = "user" | "assistant";

/** A tool whose input is the answer. */
export interface ModelTool {
  /** What it does, for the model. */
  description: string;
  /** JSON schema of its input. */
  inputSchema: unknown;
  /** Its name. */
  name: string;
}

/** A remark of the compiler on one of its messages. */
export interface Note {
  /** Column, from 1, in bytes; 0 where the compiler named none. */
  column: number;
  /** File the remark is about. */
  file: string;
  /** Line, from 1. */
  line: number;
  /** The compiler's words. */
  message: string;
}

/** The odds that two forecasts are in the right order. */
export interface Odds {
  /** Lower bound of that share, 90% one-sided. */
  low: number;
  /** Pairs that this is taken from. */
  pairs: number;
  /** Pairs in the right order. */
  right: number;
  /** Share of the pairs this far apart that were in the right order, by Laplace's rule. */
  share: number;
}

/** What an evolution would be done with: the answer of `kernelScientist/plan`. */
export interface Plan {
  /** What it will probably cost and what limits it, in words; absent where that is not known, or nothing. */
  estimate: string | null;
  /** How the kernel is fed. */
  fed_by: FedBy;
  /** Generations at most. */
  generations: number;
  /** It works by rules and not by a model. */
  is_rule_based: boolean;
  /** The provider whose key is missing, such as `anthropic`. */
  missing_key: string | null;
  /** Why it cannot be begun, if it cannot, and what to do. */
  problem: string | null;
  /** Who thinks hypotheses up; `catalog` is rule-based. */
  provider: string;
}

/** Parameters of `kernelScientist/plan`. */
export interface PlanParams {
  /** The kernel; absent for all of the file. */
  kernel?: string | null;
  /** The document, which is open. */
  uri: string;
}

/** A plan of a design. */
export interface PlannedExperiment {
  /** What it was chosen for; absent when it was not. */
  chosen: ChoiceRule | null;
  /** Expected gain in percent of speed. */
  gain: GainRange;
  /** How unusual it is, 0 to 100. */
  innovation: number;
  /** The kernel it is about. */
  kernel: string;
  /** The hypothesis' key. */
  key: string;
  /** In one line. */
  title: string;
}

/**
 * A run and its population; the answer of `kernelScientist/population`, which is `null` for a file without runs. Its words are
 * those of `kernel-scientist report`.
 */
export interface Population {
  /** When it began: milliseconds since 1970, UTC. */
  at_ms: number;
  /** How well predictions agree with what was measured or forecast. */
  calibration: Calibration;
  /** The device. */
  device: string;
  /** What the device's times mean; empty while there are none. */
  device_note: string;
  /** The device as it is shown: `MI300X`, `cpu emulation`. */
  device_title: string;
  /** All experiments, in the order in which they were made. */
  experiments: Experiment[];
  /** The file. */
  file: string;
  /** What all times and speeds rest on where they are forecasts; absent where they were measured, or there are none yet. */
  forecast?: Basis | null;
  /** What it came to: a number such as `1.42×`, or that there is none. */
  headline: string;
  /** Somebody is at work on it, in this server or in another program. */
  is_held: boolean;
  /** The kernel that it is about; absent for all of the file. */
  kernel: string | null;
  /** The versions, in order of their numbers; 0 is the original. */
  members: Member[];
  /** Its budget ended it: it goes on with `more`. */
  out_of_budget?: boolean;
  /** Who thought hypotheses up; `catalog` is rule-based. */
  provider: string;
  /** The run's number in the notebook. */
  run: number;
  /** What that says and what it is worth, in sentences. */
  sentence: string;
  /** Seconds at work. */
  spent_s: number;
  /** Tokens to and from a provider. */
  spent_tokens: number;
  /** Dollars. */
  spent_usd: number;
  /** How it stands. */
  state: RunState;
  /** The same in words, with what it waits for or what ended it. */
  state_words: string;
  /** The version that held against the original in a fresh process; absent while there is none. */
  winner: Winner | null;
}

/** Parameters of `kernelScientist/population`. */
export interface PopulationParams {
  /** Number of the run; without it the newest one of the document's file. */
  run?: number | null;
  /** The document. */
  uri: string;
}

/** The answer of `kernelScientist/preview`. */
export interface Preview {
  /** The document's text as it would be. */
  text: string;
  /** What the proposal is, in one line. */
  title: string;
  /** The document. */
  uri: string;
}

/** Parameters of `kernelScientist/preview`. */
export interface PreviewParams {
  /** Number of the proposal in this session. */
  proposal: number;
}

/** The answer of `kernelScientist/propose`. */
export interface ProposalNumber {
  /** Number of the proposal in this session. */
  proposal: number;
}

/** Parameters of `kernelScientist/propose`. */
export interface ProposeParams {
  /** Number of the version. */
  candidate: number;
  /** Number of the run. */
  run: number;
  /** The document. */
  uri: string;
}

/** Parameters of `kernelScientist/proposed`. */
export interface Proposed {
  /** The kernel; absent for all of the file. */
  kernel: string | null;
  /** Number of the proposal in this session, for `kernelScientist.apply` and `kernelScientist/preview`. */
  proposal: number;
  /** The run that it is the winner of; absent for a single hypothesis. */
  run: number | null;
  /** What came of it, in sentences. */
  text: string;
  /** What it is, in one line. */
  title: string;
  /** The document. */
  uri: string;
}

/** A run in few words: an element of the answer of `kernelScientist/runs`, the newest first. */
export interface Run {
  /** When it began: milliseconds since 1970, UTC. */
  at_ms: number;
  /** The device. */
  device: string;
  /** The file. */
  file: string;
  /** Whether there is a winner that held against the original. */
  is_confirmed: boolean;
  /** Somebody is at work on it, in this server or in another program. */
  is_held: boolean;
  /** The kernel that it is about; absent for all of the file. */
  kernel: string | null;
  /** Its budget ended it: it goes on with `more`. */
  out_of_budget?: boolean;
  /** Who thought hypotheses up; `catalog` is rule-based. */
  provider: string;
  /** What came of it, such as `1.82x [1.80, 1.85]`; absent before its end. */
  result: string | null;
  /** Its number in the notebook. */
  run: number;
  /** Seconds at work. */
  spent_s: number;
  /** Dollars. */
  spent_usd: number;
  /** How it stands. */
  state: RunState;
  /** What it waits for or what ended it, where that was recorded. */
  why: string | null;
}

/** Parameters of `kernelScientist/runEvent`. */
export interface RunEvent {
  /** What happened, as a line of `evolve --json`. */
  event: Event;
  /** Number of the job in this session. */
  job: number;
  /** The kernel; absent for all of the file. */
  kernel: string | null;
  /** The document. */
  uri: string;
}

/** Number of a run, unique in its notebook. */
export type RunId = number;

/** How a run stands. */
export type RunState = "open" | "paused" | "cancelled" | "failed" | "finished";

/** Parameters of `kernelScientist/runs`. */
export interface RunsParams {
  /** The document; without it the newest runs of all files. */
  uri?: string | null;
}

/** A constant with a value: a tile size, items for each thread, rounds unrolled. */
export interface Setting {
  /** Name of the constant, or what it says (`items along y`). */
  name: string;
  /** Its value. */
  value: number;
}

/** A speed at one shape. */
export interface ShapeSpeed {
  /** Whether no stage ever saw it. */
  held_out: boolean;
  /** The problem size. */
  shape: string;
  /** Speed against the original. */
  speed: SpeedRatio;
  /** Verdict for this shape alone. */
  verdict: Verdict;
}

/** A median time. */
export interface ShapeTime {
  /** The median. */
  median_ns: number;
  /** The problem size. */
  shape: string;
}

/** Speed of the candidate relative to its baseline: baseline time / candidate time, above 1 is faster. */
export interface SpeedRatio {
  /** Upper end of the 99% confidence interval. */
  high: number;
  /** Lower end of the 99% confidence interval. */
  low: number;
  /** Point estimate. */
  ratio: number;
}

/** How a candidate or an experiment stands; decides its colour, and is always written out too. */
export type Standing = "original" | "faster" | "slower" | "same" | "inconclusive" | "failed" | "not_run";

/** What a file is worked on with: the answer of `kernelScientist/status`. */
export interface Status {
  /** The device, as a user names it. */
  device: string;
  /** The device as it is shown: `MI300X`, `cpu emulation`. */
  device_title: string;
  /** All devices that can be chosen. */
  devices: DeviceChoice[];
  /** Times on it are forecasts, not measurements. */
  is_forecast: boolean;
  /** What is wrong with the settings, if something is. */
  problem: string | null;
  /** Who thinks hypotheses up; `catalog` is rule-based. */
  provider: string;
  /** Dollars that the runs of the file have cost so far, as they are on record. */
  spent_usd: number;
}

/** Parameters of `kernelScientist/status`. */
export interface StatusParams {
  /** The file, whose folder may have settings of its own. */
  uri: string;
}

/** Values of a search and what came of them. */
export interface Tried {
  /** Why it has no speed. */
  reason?: string | null;
  /** The values of one draft. */
  settings: Setting[];
  /**
   * Speed against the base as last measured; a brief measurement for values that did not come far. Absent where the
   * draft failed or says the same as another.
   */
  speed?: SpeedRatio | null;
}

/**
 * The `settings` of a `workspace/didChangeConfiguration` that says whether the user trusts the workspace now. It stands beside
 * the section of settings, not in it: a workspace has settings of its own, and must not trust itself.
 */
export interface Trust {
  /** The user trusts the workspace. */
  trusted: boolean;
}

/** The outcome of comparing a candidate with its baseline. */
export type Verdict = "faster" | "slower" | "same" | "inconclusive";

/** The answer of `kernelScientist/version`. */
export interface Version {
  /** The user's file. */
  file: string;
  /** The whole text. */
  text: string;
}

/** A text of a run. */
export type VersionOf = {
  candidate: number;
} | {
  experiment: number;
};

/** Parameters of `kernelScientist/version`. */
export interface VersionParams {
  /** Which of its texts. */
  of: VersionOf;
  /** Number of the run. */
  run: number;
}

/** A time of a version. */
export interface VersionTime {
  /** Upper end. */
  high_ns: number;
  /** Lower end of its 95% interval; of a forecast, of what nine of ten validated times lay within. */
  low_ns: number;
  /** The median; the time itself of a forecast. */
  median_ns: number;
  /** The problem size. */
  shape: string;
}

/** A version that held against the original. */
export interface Winner {
  /** Its number; absent where the text is that of no version. */
  number: number | null;
  /** Each shape, the held-out ones too. */
  shapes: ShapeSpeed[];
  /** Its speed against the original. */
  speed: SpeedRatio;
}
