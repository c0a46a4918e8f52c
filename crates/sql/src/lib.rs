//! Turnstile, SQL: parse, bind, plan, execute; types and collations; the data dictionary.
