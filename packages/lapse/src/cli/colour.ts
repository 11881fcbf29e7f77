// Terminal properties of a stream: whether to use colours, and its width; text styles.

import { styleText } from 'node:util';

export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours on a terminal, except with NO_COLOR (https://no-color.org) or a terminal without colours. */
export const wantsColour = ({ isTTY }: Stream, { NO_COLOR = '', TERM }: Environment = process.env): boolean =>
  isTTY === true && NO_COLOR === '' && TERM !== 'dumb';

/** Columns at which lines are wrapped. Undefined if the stream is not a terminal: lines are not wrapped. */
export const widthOf = ({ isTTY, columns }: Stream): number | undefined =>
  isTTY === true ? columns : undefined;

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

export function styles(colour: boolean): Readonly<Record<Style, (text: string) => string>> {
  const style = (name: Style) => (text: string) => (colour ? styleText(name, text) : text);
  return {
    bold: style('bold'),
    dim: style('dim'),
    green: style('green'),
    yellow: style('yellow'),
    red: style('red'),
  };
}
