//! The words the grammar knows, and which of them are reserved.
//!
//! The reserved list is that of MySQL 8.4; a reserved word is an identifier only in backticks or after a dot.
//! Words are found through a table of open addressing that is built at compile time.

macro_rules! keywords {
    (reserved { $($reserved:ident $reserved_text:literal,)* } free { $($free:ident $free_text:literal,)* }) => {
        /// A keyword.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        #[allow(missing_docs, reason = "the variants are SQL's own words")]
        pub enum Keyword { $($reserved,)* $($free,)* }

        const RESERVED_COUNT: usize = [$($reserved_text,)*].len();
        const ALL: [Keyword; COUNT] = [$(Keyword::$reserved,)* $(Keyword::$free,)*];
        const TEXTS: [&str; COUNT] = [$($reserved_text,)* $($free_text,)*];
        const COUNT: usize = [$($reserved_text,)* $($free_text,)*].len();
    };
}

impl Keyword {
    /// The keyword that `word` is, in any case.
    #[must_use]
    pub fn find(word: &[u8]) -> Option<Keyword> {
        if word.len() < 2 || word.len() > LENGTH_MAX {
            return None;
        }
        let mut slot = hash(word);
        loop {
            let index = usize::from(SLOTS[slot]);
            if index == EMPTY as usize {
                return None;
            }
            if TEXTS[index].as_bytes().eq_ignore_ascii_case(word) {
                return Some(ALL[index]);
            }
            slot = (slot + 1) % SLOT_COUNT;
        }
    }

    /// True when it cannot be an identifier without quotes.
    #[must_use]
    pub fn is_reserved(self) -> bool {
        (self as usize) < RESERVED_COUNT
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Keyword> {
        ALL.iter().copied()
    }

    /// The word in upper case.
    #[must_use]
    pub fn text(self) -> &'static str {
        TEXTS[self as usize]
    }
}

const LENGTH_MAX: usize = 27;
const SLOT_COUNT: usize = 2048;
const EMPTY: u16 = u16::MAX;
static SLOTS: [u16; SLOT_COUNT] = build_slots();

/// Clearing bit 5 folds the case of letters; what it does to other bytes only costs a comparison.
const fn hash(word: &[u8]) -> usize {
    let mut hash = word.len() as u32;
    let places = [0, 1, 2, word.len() / 2, word.len() - 2, word.len() - 1];
    let mut nth = 0;
    while nth < places.len() {
        let place = if places[nth] < word.len() { places[nth] } else { 0 };
        hash = hash.wrapping_mul(0x0100_0193) ^ (word[place] & 0xDF) as u32;
        nth += 1;
    }
    (hash.wrapping_mul(0x9E37_79B1) >> 21) as usize
}

const fn build_slots() -> [u16; SLOT_COUNT] {
    let mut slots = [EMPTY; SLOT_COUNT];
    let mut index = 0;
    while index < COUNT {
        let word = TEXTS[index].as_bytes();
        assert!(word.len() <= LENGTH_MAX && word.len() >= 2);
        let mut slot = hash(word);
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = index as u16;
        index += 1;
    }
    slots
}

keywords! {
    reserved {
        Accessible "ACCESSIBLE", Add "ADD", All "ALL", Alter "ALTER", Analyze "ANALYZE", And "AND",
        As "AS", Asc "ASC", Asensitive "ASENSITIVE", Before "BEFORE", Between "BETWEEN", Bigint "BIGINT",
        Binary "BINARY", Blob "BLOB", Both "BOTH", By "BY", Call "CALL", Cascade "CASCADE", Case "CASE",
        Change "CHANGE", Char "CHAR", Character "CHARACTER", Check "CHECK", Collate "COLLATE",
        Column "COLUMN", Condition "CONDITION", Constraint "CONSTRAINT", Continue "CONTINUE",
        Convert "CONVERT", Create "CREATE", Cross "CROSS", Cube "CUBE", CumeDist "CUME_DIST",
        CurrentDate "CURRENT_DATE", CurrentTime "CURRENT_TIME", CurrentTimestamp "CURRENT_TIMESTAMP",
        CurrentUser "CURRENT_USER", Cursor "CURSOR", Database "DATABASE", Databases "DATABASES",
        DayHour "DAY_HOUR", DayMicrosecond "DAY_MICROSECOND", DayMinute "DAY_MINUTE",
        DaySecond "DAY_SECOND", Dec "DEC", Decimal "DECIMAL", Declare "DECLARE", Default "DEFAULT",
        Delayed "DELAYED", Delete "DELETE", DenseRank "DENSE_RANK", Desc "DESC", Describe "DESCRIBE",
        Deterministic "DETERMINISTIC", Distinct "DISTINCT", Distinctrow "DISTINCTROW", Div "DIV",
        Double "DOUBLE", Drop "DROP", Dual "DUAL", Each "EACH", Else "ELSE", Elseif "ELSEIF",
        Empty "EMPTY", Enclosed "ENCLOSED", Escaped "ESCAPED", Except "EXCEPT", Exists "EXISTS",
        Exit "EXIT", Explain "EXPLAIN", False "FALSE", Fetch "FETCH", FirstValue "FIRST_VALUE",
        Float "FLOAT", Float4 "FLOAT4", Float8 "FLOAT8", For "FOR", Force "FORCE", Foreign "FOREIGN",
        From "FROM", Fulltext "FULLTEXT", Function "FUNCTION", Generated "GENERATED", Get "GET",
        Grant "GRANT", Group "GROUP", Grouping "GROUPING", Groups "GROUPS", Having "HAVING",
        HighPriority "HIGH_PRIORITY", HourMicrosecond "HOUR_MICROSECOND", HourMinute "HOUR_MINUTE",
        HourSecond "HOUR_SECOND", If "IF", Ignore "IGNORE", In "IN", Index "INDEX", Infile "INFILE",
        Inner "INNER", Inout "INOUT", Insensitive "INSENSITIVE", Insert "INSERT", Int "INT", Int1 "INT1",
        Int2 "INT2", Int3 "INT3", Int4 "INT4", Int8 "INT8", Integer "INTEGER", Intersect "INTERSECT",
        Interval "INTERVAL", Into "INTO", IoAfterGtids "IO_AFTER_GTIDS", IoBeforeGtids "IO_BEFORE_GTIDS",
        Is "IS", Iterate "ITERATE", Join "JOIN", JsonTable "JSON_TABLE", Key "KEY", Keys "KEYS",
        Kill "KILL", Lag "LAG", LastValue "LAST_VALUE", Lateral "LATERAL", Lead "LEAD", Leading "LEADING",
        Leave "LEAVE", Left "LEFT", Like "LIKE", Limit "LIMIT", Linear "LINEAR", Lines "LINES",
        Load "LOAD", Localtime "LOCALTIME", Localtimestamp "LOCALTIMESTAMP", Lock "LOCK", Long "LONG",
        Longblob "LONGBLOB", Longtext "LONGTEXT", Loop "LOOP", LowPriority "LOW_PRIORITY", Manual "MANUAL",
        Match "MATCH", Maxvalue "MAXVALUE", Mediumblob "MEDIUMBLOB", Mediumint "MEDIUMINT",
        Mediumtext "MEDIUMTEXT", Middleint "MIDDLEINT", MinuteMicrosecond "MINUTE_MICROSECOND",
        MinuteSecond "MINUTE_SECOND", Mod "MOD", Modifies "MODIFIES", Natural "NATURAL", Not "NOT",
        NoWriteToBinlog "NO_WRITE_TO_BINLOG", NthValue "NTH_VALUE", Ntile "NTILE", Null "NULL",
        Numeric "NUMERIC", Of "OF", On "ON", Optimize "OPTIMIZE", OptimizerCosts "OPTIMIZER_COSTS",
        Option "OPTION", Optionally "OPTIONALLY", Or "OR", Order "ORDER", Out "OUT", Outer "OUTER",
        Outfile "OUTFILE", Over "OVER", Parallel "PARALLEL", Partition "PARTITION",
        PercentRank "PERCENT_RANK", Precision "PRECISION", Primary "PRIMARY", Procedure "PROCEDURE",
        Purge "PURGE", Qualify "QUALIFY", Range "RANGE", Rank "RANK", Read "READ", Reads "READS",
        ReadWrite "READ_WRITE", Real "REAL", Recursive "RECURSIVE", References "REFERENCES",
        Regexp "REGEXP", Release "RELEASE", Rename "RENAME", Repeat "REPEAT", Replace "REPLACE",
        Require "REQUIRE", Resignal "RESIGNAL", Restrict "RESTRICT", Return "RETURN", Revoke "REVOKE",
        Right "RIGHT", Rlike "RLIKE", Row "ROW", Rows "ROWS", RowNumber "ROW_NUMBER", Schema "SCHEMA",
        Schemas "SCHEMAS", SecondMicrosecond "SECOND_MICROSECOND", Select "SELECT", Sensitive "SENSITIVE",
        Separator "SEPARATOR", Set "SET", Show "SHOW", Signal "SIGNAL", Smallint "SMALLINT",
        Spatial "SPATIAL", Specific "SPECIFIC", Sql "SQL", Sqlexception "SQLEXCEPTION",
        Sqlstate "SQLSTATE", Sqlwarning "SQLWARNING", SqlBigResult "SQL_BIG_RESULT",
        SqlCalcFoundRows "SQL_CALC_FOUND_ROWS", SqlSmallResult "SQL_SMALL_RESULT", Ssl "SSL",
        Starting "STARTING", Stored "STORED", StraightJoin "STRAIGHT_JOIN", System "SYSTEM", Table "TABLE",
        Tablesample "TABLESAMPLE", Terminated "TERMINATED", Then "THEN", Tinyblob "TINYBLOB",
        Tinyint "TINYINT", Tinytext "TINYTEXT", To "TO", Trailing "TRAILING", Trigger "TRIGGER",
        True "TRUE", Undo "UNDO", Union "UNION", Unique "UNIQUE", Unlock "UNLOCK", Unsigned "UNSIGNED",
        Update "UPDATE", Usage "USAGE", Use "USE", Using "USING", UtcDate "UTC_DATE", UtcTime "UTC_TIME",
        UtcTimestamp "UTC_TIMESTAMP", Values "VALUES", Varbinary "VARBINARY", Varchar "VARCHAR",
        Varcharacter "VARCHARACTER", Varying "VARYING", Virtual "VIRTUAL", When "WHEN", Where "WHERE",
        While "WHILE", Window "WINDOW", With "WITH", Write "WRITE", Xor "XOR", YearMonth "YEAR_MONTH",
        Zerofill "ZEROFILL",
    }
    free {
        Account "ACCOUNT", Action "ACTION", After "AFTER", Algorithm "ALGORITHM", Always "ALWAYS",
        Any "ANY", Ascii "ASCII", Attribute "ATTRIBUTE", Retain "RETAIN", AutoextendSize "AUTOEXTEND_SIZE",
        AutoIncrement "AUTO_INCREMENT", AvgRowLength "AVG_ROW_LENGTH", Backup "BACKUP", Begin "BEGIN",
        Binlog "BINLOG", Bit "BIT", Bool "BOOL", Boolean "BOOLEAN", Btree "BTREE", Byte "BYTE",
        Cache "CACHE", Chain "CHAIN", Changed "CHANGED", Charset "CHARSET", Checksum "CHECKSUM",
        Cipher "CIPHER", Clone "CLONE", Collation "COLLATION", Columns "COLUMNS",
        ColumnFormat "COLUMN_FORMAT", Comment "COMMENT", Commit "COMMIT", Committed "COMMITTED",
        Compact "COMPACT", Compressed "COMPRESSED", Compression "COMPRESSION", Concurrent "CONCURRENT",
        Connection "CONNECTION", Consistent "CONSISTENT", Copy "COPY", Current "CURRENT", Data "DATA",
        Date "DATE", Datetime "DATETIME", Day "DAY", Deallocate "DEALLOCATE",
        DelayKeyWrite "DELAY_KEY_WRITE", Directory "DIRECTORY", Disable "DISABLE", Discard "DISCARD",
        Do "DO", Dumpfile "DUMPFILE", Duplicate "DUPLICATE", Dynamic "DYNAMIC", Enable "ENABLE",
        Encryption "ENCRYPTION", End "END", Enforced "ENFORCED", Engine "ENGINE", Engines "ENGINES",
        EngineAttribute "ENGINE_ATTRIBUTE", Enum "ENUM", Error "ERROR", Errors "ERRORS", Escape "ESCAPE",
        Event "EVENT", Events "EVENTS", Exclude "EXCLUDE", Execute "EXECUTE", Expire "EXPIRE", Export "EXPORT",
        Extended "EXTENDED", Fast "FAST", Fields "FIELDS", File "FILE", First "FIRST", Fixed "FIXED",
        Flush "FLUSH", Following "FOLLOWING", Format "FORMAT", Full "FULL", General "GENERAL", Geometry "GEOMETRY",
        Global "GLOBAL", Grants "GRANTS", Handler "HANDLER", Hash "HASH", Help "HELP", History "HISTORY",
        Host "HOST", Hosts "HOSTS", Hour "HOUR", Identified "IDENTIFIED", Import "IMPORT",
        Indexes "INDEXES", Innodb "INNODB", Inplace "INPLACE", InsertMethod "INSERT_METHOD",
        Install "INSTALL", Instant "INSTANT", Invisible "INVISIBLE", Isolation "ISOLATION",
        Issuer "ISSUER", Json "JSON", KeyBlockSize "KEY_BLOCK_SIZE", Language "LANGUAGE", Last "LAST",
        Less "LESS", Level "LEVEL", Local "LOCAL", Locked "LOCKED", Logs "LOGS", Master "MASTER",
        MaxConnectionsPerHour "MAX_CONNECTIONS_PER_HOUR", MaxQueriesPerHour "MAX_QUERIES_PER_HOUR",
        MaxRows "MAX_ROWS", MaxUpdatesPerHour "MAX_UPDATES_PER_HOUR",
        MaxUserConnections "MAX_USER_CONNECTIONS", Medium "MEDIUM", Member "MEMBER",
        Microsecond "MICROSECOND", MinRows "MIN_ROWS", Minute "MINUTE", Mode "MODE", Modify "MODIFY",
        Month "MONTH", Mutex "MUTEX", Names "NAMES", National "NATIONAL", Nested "NESTED", Nchar "NCHAR", Never "NEVER",
        Next "NEXT", No "NO", None "NONE", Nowait "NOWAIT", Nulls "NULLS", Nvarchar "NVARCHAR", Offset "OFFSET",
        One "ONE", Only "ONLY", Open "OPEN", Ordinality "ORDINALITY", PackKeys "PACK_KEYS", Parser "PARSER", Partial "PARTIAL",
        Partitions "PARTITIONS", Partitioning "PARTITIONING", Password "PASSWORD", Path "PATH", Persist "PERSIST",
        PersistOnly "PERSIST_ONLY", Plugin "PLUGIN", Plugins "PLUGINS", Point "POINT", Preceding "PRECEDING", Prepare "PREPARE",
        Prev "PREV", Privileges "PRIVILEGES", Processlist "PROCESSLIST", Profile "PROFILE",
        Profiles "PROFILES", Proxy "PROXY", Quarter "QUARTER", Query "QUERY", Quick "QUICK",
        Random "RANDOM", Recover "RECOVER", Redundant "REDUNDANT", Relay "RELAY", Reload "RELOAD",
        Remove "REMOVE", Reorganize "REORGANIZE", Repair "REPAIR", Repeatable "REPEATABLE",
        Replica "REPLICA", Replicas "REPLICAS", Replication "REPLICATION", Reset "RESET", Respect "RESPECT",
        Restart "RESTART", Returning "RETURNING", Role "ROLE", Rollback "ROLLBACK", Rollup "ROLLUP", Routine "ROUTINE",
        RowFormat "ROW_FORMAT", Savepoint "SAVEPOINT", Second "SECOND", SecondaryEngine "SECONDARY_ENGINE",
        SecondaryEngineAttribute "SECONDARY_ENGINE_ATTRIBUTE", Security "SECURITY", Serial "SERIAL",
        Serializable "SERIALIZABLE", Session "SESSION", Share "SHARE", Shared "SHARED",
        Shutdown "SHUTDOWN", Signed "SIGNED", Simple "SIMPLE", Skip "SKIP", Slave "SLAVE", Slow "SLOW",
        Snapshot "SNAPSHOT", Some "SOME", Soname "SONAME", Sounds "SOUNDS", Source "SOURCE",
        SqlBufferResult "SQL_BUFFER_RESULT", SqlNoCache "SQL_NO_CACHE",
        Start "START", StatsAutoRecalc "STATS_AUTO_RECALC", StatsPersistent "STATS_PERSISTENT",
        StatsSamplePages "STATS_SAMPLE_PAGES", Status "STATUS", Stop "STOP", Storage "STORAGE",
        Subject "SUBJECT", Tables "TABLES", Tablespace "TABLESPACE", Temporary "TEMPORARY",
        Temptable "TEMPTABLE", Text "TEXT", Time "TIME", Timestamp "TIMESTAMP", Transaction "TRANSACTION", Unbounded "UNBOUNDED",
        Triggers "TRIGGERS", Truncate "TRUNCATE", Uncommitted "UNCOMMITTED", Unicode "UNICODE",
        Uninstall "UNINSTALL", Unknown "UNKNOWN", User "USER", Validation "VALIDATION", Value "VALUE",
        Variables "VARIABLES", View "VIEW", Visible "VISIBLE", Warnings "WARNINGS", Week "WEEK",
        Without "WITHOUT", Work "WORK", X509 "X509", Xa "XA", Year "YEAR",
    }
}
