// The log of a process: readable lines on a terminal, JSON otherwise.

import { realClock } from '@lapse/base/clock';
import { jsonLog, type Log, prettyLog } from '@lapse/base/log';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import type { General } from '#manager/configuration/general';
import { terminalText } from './terminalText.ts';

export function openLog({ log }: General): Log {
  const isText = log.format === 'text' || (log.format === 'auto' && process.stderr.isTTY === true);
  const options = {
    clock: realClock,
    level: log.level,
    write: (line: string) => void process.stderr.write(terminalText(line)),
  };
  return briefly(isText ? prettyLog(options) : jsonLog(options));
}

type Fields = Parameters<Log['info']>[0];

/**
 * Errors of the cluster are logged without a stack: while an API server is unavailable, stacks would flood the log.
 */
export function briefly(log: Log): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: Fields, message: string) =>
    log[level](brief(fields), message);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => briefly(log.with(brief(fields))),
  };
}

const brief = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, answerOf(value) ?? value]));

function answerOf(value: unknown): object | undefined {
  if (value instanceof TransportError)
    return { name: value.name, failure: value.failure, message: value.message };
  if (value instanceof ApiError) return { name: value.name, code: value.code, message: value.message };
  return undefined;
}
