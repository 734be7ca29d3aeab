/** A message about a model. Positions count UTF-16 units, as strings do. */
export interface Message {
  severity: "error" | "warning" | "note";
  /** Stable, such as E0201. */
  code: string;
  /** From 1; 0 if the message is not about a part of the model. */
  line: number;
  from: number;
  to: number;
  summary: string;
  detail?: string;
  /** What to do. */
  help?: string;
  /** Edits that do what help says. */
  edits?: { from: number; to: number; text: string }[];
}

/** An error of a model, its data or its settings. The message is the text for people. */
export class ModelError extends Error {
  readonly messages: Message[];
}

export interface Progress {
  /** From 1. */
  chain: number;
  iteration: number;
  total: number;
  phase: "warm-up" | "sampling" | "done";
  divergences: number;
}

/** A value of data. */
export type Value = number | bigint | string | boolean | ArrayLike<number> | Value[] | { [name: string]: Value };

export interface Settings {
  /** Values by name; or the text of a JSON, CSV or R dump file. */
  data?: { [name: string]: Value } | string;
  /** Name of a file whose text is given as data: its end says the format. */
  dataName?: string;
  /** What a CSV file lacks: "N" for the number of rows, or "J=school" for the levels of a column. */
  counts?: string[];
  /** 64 bits, random by default. */
  seed?: number | bigint | string;
  /** 4 by default. */
  chains?: number;
  /** Iterations of warm-up, 1000 by default. */
  warmup?: number;
  /** Iterations after warm-up, 1000 by default. */
  draws?: number;
  /** Keep one draw of so many. */
  thin?: number;
  /** "auto" by default. */
  sampler?: string;
  /** As in `ppl run`, without dashes: {delta: 0.95}. */
  samplerOptions?: { [name: string]: string | number | boolean };
  /** Number of chains that run at a time, by default the number of processors. */
  workers?: number;
  /** Whether the fit has the report of `ppl report` as HTML. */
  html?: boolean;
  /** Ends the run. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Gets what the model prints. */
  onPrint?: (text: string, chain: number) => void;
}

export interface Row {
  name: string;
  mean: number;
  mcse_mean: number;
  sd: number;
  q5: number;
  q50: number;
  q95: number;
  ess_bulk: number;
  ess_tail: number;
  rhat: number;
}

/** A problem of a run, or a remark about it. */
export interface Finding {
  /** Stable, such as rhat. */
  code: string;
  severity: "problem" | "note";
  summary: string;
  /** What to do. */
  advice: string;
  quantities?: string[];
}

export interface Fit {
  readonly seed: string;
  /** Names of the quantities, such as "theta[1]". */
  readonly names: string[];
  readonly chains: number;
  readonly summary: Row[];
  readonly findings: Finding[];
  /** null if the sampler does not report them. */
  readonly divergences: number | null;
  readonly seconds: number;
  /** The report, if asked for. */
  readonly html?: string;
  /** The draws of a quantity, by chain. */
  draws(name: string): Float64Array[];
}

export interface Model {
  readonly name: string;
  readonly text: string;
  /** Warnings and notes. */
  readonly warnings: Message[];
  sample(settings?: Settings): Promise<Fit>;
}

/** Checks a model. It throws a ModelError if the model has errors. */
export function compile(model: string, options?: { name?: string }): Promise<Model>;

/** Samples the posterior, a worker for each chain. */
export function sample(model: Model | string, settings?: Settings): Promise<Fit>;
