import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    files: ["static/js/**/*.js"],
    rules: {
      // The compiler of tsconfig.json knows what is defined.
      "no-undef": "off",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-shadow": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      "no-promise-executor-return": "error",
      "require-atomic-updates": "off",
      "no-alert": "error",
      "no-console": "error",
      "max-lines": ["error", 300],
    },
  },
];
