// Undefined names and types are the matter of tsc. These rules keep out what would be a fault in this page.

// Text from models and pages is only ever text.
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln", "srcdoc", "createContextualFragment"];

export default [
    {
        files: ["**/*.js"],
        languageOptions: { ecmaVersion: 2022, sourceType: "module" },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: {
            "array-callback-return": "error",
            "consistent-return": "error",
            curly: "error",
            "default-case-last": "error",
            eqeqeq: "error",
            "max-lines": ["error", 400],
            "max-lines-per-function": ["error", 60],
            "no-alert": "error",
            "no-console": "error",
            "no-const-assign": "error",
            "no-duplicate-imports": "error",
            "no-eval": "error",
            "no-fallthrough": "error",
            "no-implied-eval": "error",
            "no-new-func": "error",
            "no-promise-executor-return": "error",
            "no-self-compare": "error",
            "no-shadow": "error",
            "no-throw-literal": "error",
            "no-unreachable": "error",
            "no-unsafe-finally": "error",
            "no-unused-expressions": "error",
            "no-unused-vars": "error",
            "no-useless-return": "error",
            "no-var": "error",
            "object-shorthand": "error",
            "prefer-const": "error",
            "require-atomic-updates": "error",
            "no-restricted-properties": ["error", ...MARKUP.map((property) => ({ property, message: "Use textContent." }))],
        },
    },
    {
        files: ["src/**/*.js"],
        rules: {
            // Rust joins the files by dropping imports and the word `export`.
            "no-restricted-syntax": ["error", "ExportDefaultDeclaration", "ExportAllDeclaration", "ExportSpecifier", "ImportNamespaceSpecifier", "ImportDefaultSpecifier"],
        },
    },
];
