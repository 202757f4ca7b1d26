// In place of the editor's API in unit tests: what is tested here never uses it.
export {};
