"""Tags that every template knows without loading them."""
