// The log of a process: lines for people on a terminal, JSON everywhere else.

import { realClock } from '#base/clock';
import { jsonLog, type Log, prettyLog } from '#base/log';
import type { General } from './configuration/general.ts';

export function openLog({ log }: General): Log {
  const isText = log.format === 'text' || (log.format === 'auto' && process.stderr.isTTY === true);
  const options = {
    clock: realClock,
    level: log.level,
    write: (line: string) => void process.stderr.write(line),
  };
  return isText ? prettyLog(options) : jsonLog(options);
}
