// A kubectl session as data: commands that run one after the other in a separate namespace, on both servers.

/** How the outputs of the two servers are compared. */
export type Comparison =
  /** Equal after normalising. */
  | { readonly kind: 'same' }
  /** The embedded server prints a part of the lines of the real one. */
  | { readonly kind: 'part'; readonly reason: string }
  /** Equal except for field descriptions. */
  | { readonly kind: 'withoutProse'; readonly reason: string }
  /** Known to differ; the test fails if they do not. */
  | { readonly kind: 'differs'; readonly reason: string };

export interface Command {
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly compare?: Comparison;
  /** Never ends by itself: killed after this many lines of output. */
  readonly untilLines?: number;
  /** Runs while the command is running, after its first line of output. */
  readonly meanwhile?: readonly Command[];
  /** Repeated until it exits with 0: a server publishes the schema of a new kind some moments after it serves it. */
  readonly untilSuccess?: boolean;
  /** Its POST has a protobuf body, as typed clients send it. */
  readonly sendsProtobuf?: boolean;
}

export interface Session {
  readonly name: string;
  readonly commands: readonly Command[];
}

export interface Outcome {
  readonly command: string;
  readonly exit: number | 'killed';
  readonly stdout: string;
  readonly stderr: string;
  /** The commands that ran meanwhile. */
  readonly inner: readonly Outcome[];
}

/** A line of a shell script: words, with single quotes around those with spaces. */
export function k(line: string, more: Omit<Command, 'args'> = {}): Command {
  const words = line.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return { args: words.map((w) => w.replace(/'/g, '')), ...more };
}
