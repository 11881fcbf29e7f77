export * from '@lapse/apiserver/library';
