// What a stream is to whoever reads it: whether to write in colours, and how wide.

export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** For people at a terminal, unless they said otherwise (https://no-color.org) or it knows none. */
export const wantsColour = ({ isTTY }: Stream, { NO_COLOR = '', TERM }: Environment = process.env): boolean =>
  isTTY === true && NO_COLOR === '' && TERM !== 'dumb';

/** Columns to fold lines at; undefined where nobody looks, and lines are as long as they are. */
export const widthOf = ({ isTTY, columns }: Stream): number | undefined =>
  isTTY === true ? columns : undefined;
